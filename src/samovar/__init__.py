"""Bayesian few-shot image classification: few labelled images in, a calibrated classifier out.

Public names load on first use, so that importing samovar (and `samovar --help`) costs nothing. They
are listed three times: for type checkers and editors, for the loader, and in `__all__`; a test
compares the lists.
"""

from typing import TYPE_CHECKING

from samovar.core.lazy import lazy_exports

if TYPE_CHECKING:
    from samovar.artifacts.saved_model import SavedModel as SavedModel
    from samovar.artifacts.saved_model import load_model as load_model
    from samovar.classifier.estimator import FewShotClassifier as FewShotClassifier
    from samovar.core.version import VERSION as __version__  # noqa: N811 (the usual name)
    from samovar.errors import SamovarError as SamovarError
    from samovar.evaluation.comparison import compare as compare
    from samovar.evaluation.evaluator import evaluate as evaluate
    from samovar.experiments.paper.synthetic.study import synthetic_study as synthetic_study
    from samovar.settings.model import ModelSettings as ModelSettings
    from samovar.settings.presets import PRESETS as presets  # noqa: N811 (public before the name)
    from samovar.settings.synthetic import SyntheticSettings as SyntheticSettings
    from samovar.settings.tasks import Protocol as Protocol
    from samovar.settings.training import TrainSettings as TrainSettings
    from samovar.training.run import train as train

__all__ = [
    "FewShotClassifier",
    "ModelSettings",
    "Protocol",
    "SamovarError",
    "SavedModel",
    "SyntheticSettings",
    "TrainSettings",
    "__version__",
    "compare",
    "evaluate",
    "load_model",
    "presets",
    "synthetic_study",
    "train",
]

__getattr__, __dir__ = lazy_exports(
    __name__,
    {
        "FewShotClassifier": "samovar.classifier.estimator",
        "ModelSettings": "samovar.settings.model",
        "Protocol": "samovar.settings.tasks",
        "SamovarError": "samovar.errors",
        "SavedModel": "samovar.artifacts.saved_model",
        "SyntheticSettings": "samovar.settings.synthetic",
        "TrainSettings": "samovar.settings.training",
        "__version__": "samovar.core.version:VERSION",
        "compare": "samovar.evaluation.comparison",
        "evaluate": "samovar.evaluation.evaluator",
        "load_model": "samovar.artifacts.saved_model",
        "presets": "samovar.settings.presets:PRESETS",
        "synthetic_study": "samovar.experiments.paper.synthetic.study",
        "train": "samovar.training.run",
    },
)
