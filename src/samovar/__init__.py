"""Bayesian few-shot image classification: few labelled images in, a calibrated classifier out.

Public names load on first use, so that importing samovar (and `samovar --help`) costs nothing.
"""

from importlib import import_module
from importlib.metadata import version
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from samovar.config import SyntheticSettings as SyntheticSettings
    from samovar.errors import SamovarError as SamovarError
    from samovar.experiments.synthetic import synthetic_study as synthetic_study

__version__ = version("samovar")

_HOME = {
    "SamovarError": "samovar.errors",
    "SyntheticSettings": "samovar.config",
    "synthetic_study": "samovar.experiments.synthetic",
}

__all__ = ["SamovarError", "SyntheticSettings", "synthetic_study"]


def __getattr__(name: str) -> Any:
    if name not in _HOME:
        raise AttributeError(f"module 'samovar' has no attribute {name!r}")
    return getattr(import_module(_HOME[name]), name)
