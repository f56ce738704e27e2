"""Section 3 of the paper, one idea per file.

Feature extractors, task embedding, inference network, classifiers, objectives, and the model that
is made of them. The names below are the door for researchers; they load on first use.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from samovar.models.backbones.base import Backbone as Backbone
    from samovar.models.backbones.registry import register_backbone as register_backbone
    from samovar.models.class_means import ClassMeans as ClassMeans
    from samovar.models.classifiers import CosineClassifier as CosineClassifier
    from samovar.models.classifiers import LinearClassifier as LinearClassifier
    from samovar.models.classifiers import PrototypeClassifier as PrototypeClassifier
    from samovar.models.few_shot_model import FewShotModel as FewShotModel
    from samovar.models.inference import WeightDistribution as WeightDistribution
    from samovar.models.noise import TaskNoise as TaskNoise
    from samovar.models.objectives import TaskLoss as TaskLoss
    from samovar.models.objectives import TrainingTasks as TrainingTasks
    from samovar.models.objectives import register_objective as register_objective

_HOMES = {
    "Backbone": "backbones.base",
    "ClassMeans": "class_means",
    "CosineClassifier": "classifiers",
    "FewShotModel": "few_shot_model",
    "LinearClassifier": "classifiers",
    "PrototypeClassifier": "classifiers",
    "TaskLoss": "objectives",
    "TaskNoise": "noise",
    "TrainingTasks": "objectives",
    "WeightDistribution": "inference",
    "register_backbone": "backbones.registry",
    "register_objective": "objectives",
}

__all__ = list(_HOMES)


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module 'samovar.models' has no attribute {name!r}")
    return getattr(import_module(f"samovar.models.{_HOMES[name]}"), name)


def __dir__() -> list[str]:
    return sorted(__all__)
