"""Section 3 of the paper, one idea per file.

Feature extractors, task embedding, inference network, classifiers, objectives, and the model that
is made of them. The names below are the door for researchers; they load on first use.
"""

from typing import TYPE_CHECKING

from samovar.core.lazy import lazy_exports

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

__all__ = [
    "Backbone",
    "ClassMeans",
    "CosineClassifier",
    "FewShotModel",
    "LinearClassifier",
    "PrototypeClassifier",
    "TaskLoss",
    "TaskNoise",
    "TrainingTasks",
    "WeightDistribution",
    "register_backbone",
    "register_objective",
]

__getattr__, __dir__ = lazy_exports(
    __name__,
    {
        "Backbone": "samovar.models.backbones.base",
        "ClassMeans": "samovar.models.class_means",
        "CosineClassifier": "samovar.models.classifiers",
        "FewShotModel": "samovar.models.few_shot_model",
        "LinearClassifier": "samovar.models.classifiers",
        "PrototypeClassifier": "samovar.models.classifiers",
        "TaskLoss": "samovar.models.objectives",
        "TaskNoise": "samovar.models.noise",
        "TrainingTasks": "samovar.models.objectives",
        "WeightDistribution": "samovar.models.inference",
        "register_backbone": "samovar.models.backbones.registry",
        "register_objective": "samovar.models.objectives",
    },
)
