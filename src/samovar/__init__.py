"""Bayesian few-shot image classification: few labelled images in, a calibrated classifier out.

Public names load on first use, so that importing samovar (and `samovar --help`) costs nothing.
"""

from importlib import import_module
from importlib.metadata import version
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from samovar.classifier import FewShotClassifier as FewShotClassifier
    from samovar.config import Protocol as Protocol
    from samovar.config import SyntheticSettings as SyntheticSettings
    from samovar.errors import SamovarError as SamovarError
    from samovar.evaluation import evaluate as evaluate
    from samovar.experiments.synthetic import synthetic_study as synthetic_study
    from samovar.model_folder import SavedModel as SavedModel
    from samovar.preset_table import PRESETS as presets  # noqa: N811
    from samovar.run_config import TrainSettings as TrainSettings
    from samovar.training import train as train

__version__ = version("samovar")

_HOME = {
    "Protocol": ("samovar.config", "Protocol"),
    "SamovarError": ("samovar.errors", "SamovarError"),
    "SyntheticSettings": ("samovar.config", "SyntheticSettings"),
    "TrainSettings": ("samovar.run_config", "TrainSettings"),
    "FewShotClassifier": ("samovar.classifier", "FewShotClassifier"),
    "SavedModel": ("samovar.model_folder", "SavedModel"),
    "evaluate": ("samovar.evaluation", "evaluate"),
    "presets": ("samovar.preset_table", "PRESETS"),
    "synthetic_study": ("samovar.experiments.synthetic", "synthetic_study"),
    "train": ("samovar.training", "train"),
}

__all__ = [
    "FewShotClassifier",
    "Protocol",
    "SamovarError",
    "SavedModel",
    "SyntheticSettings",
    "TrainSettings",
    "evaluate",
    "presets",
    "synthetic_study",
    "train",
]


def __getattr__(name: str) -> Any:
    if name not in _HOME:
        raise AttributeError(f"module 'samovar' has no attribute {name!r}")
    module, attribute = _HOME[name]
    return getattr(import_module(module), attribute)
