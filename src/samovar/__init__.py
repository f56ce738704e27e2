"""Bayesian few-shot image classification: few labelled images in, a calibrated classifier out.

Public names load on first use, so that importing samovar (and `samovar --help`) costs nothing.
"""

from importlib import import_module
from importlib.metadata import version
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from samovar.artifacts.saved_model import SavedModel as SavedModel
    from samovar.classifier.estimator import FewShotClassifier as FewShotClassifier
    from samovar.errors import SamovarError as SamovarError
    from samovar.evaluation.evaluator import evaluate as evaluate
    from samovar.experiments.paper.synthetic.study import synthetic_study as synthetic_study
    from samovar.settings.presets import PRESETS as presets  # noqa: N811
    from samovar.settings.synthetic import SyntheticSettings as SyntheticSettings
    from samovar.settings.tasks import Protocol as Protocol
    from samovar.settings.training import TrainSettings as TrainSettings
    from samovar.training.run import train as train

__version__ = version("samovar")

_HOME = {
    "Protocol": ("samovar.settings.tasks", "Protocol"),
    "SamovarError": ("samovar.errors", "SamovarError"),
    "SyntheticSettings": ("samovar.settings.synthetic", "SyntheticSettings"),
    "TrainSettings": ("samovar.settings.training", "TrainSettings"),
    "FewShotClassifier": ("samovar.classifier.estimator", "FewShotClassifier"),
    "SavedModel": ("samovar.artifacts.saved_model", "SavedModel"),
    "evaluate": ("samovar.evaluation.evaluator", "evaluate"),
    "presets": ("samovar.settings.presets", "PRESETS"),
    "synthetic_study": ("samovar.experiments.paper.synthetic.study", "synthetic_study"),
    "train": ("samovar.training.run", "train"),
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
