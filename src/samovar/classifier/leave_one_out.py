"""Leave-one-out: each support image is classified as if it had not been in the support.

This tells how well the task can be learned from its own images, and how far these lie from each
other, by which rejection thresholds are scaled. Class sums make it cheap: leaving an image out
changes the mean of one class, and nothing else.
"""

import dataclasses
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from samovar.classifier.answer import AnswerParameters
from samovar.classifier.fitted_task import FittedTask, class_numbers
from samovar.models.class_means import ClassMeans
from samovar.models.few_shot_model import FewShotModel
from samovar.models.inference import WeightDistribution
from samovar.prediction.rejection import Rejection, RejectionScore
from samovar.prediction.task import class_means, predict_queries, replace_class

MOST_LEFT_OUT = 200
"""Support images that are left out in turn, at most."""


@dataclass(frozen=True)
class LeaveOneOut:
    """How well support images are classified by the others; task files keep these in this order."""

    images: int
    accuracy: float
    rejected: float | None
    """The share that is rejected; None where rejection is off."""

    def to_json(self) -> dict[str, Any]:
        """Return the form that task files and `--json` show."""
        return dataclasses.asdict(self)


@dataclass(frozen=True)
class LeftOut:
    """The support images that are left out in turn: those of classes with two or more."""

    task: FittedTask
    features: Tensor
    """Their features (n, d)."""
    numbers: Tensor
    """The numbers of their classes (n,)."""

    @classmethod
    def of(cls, task: FittedTask, features: Tensor, labels: Sequence[Any]) -> "LeftOut | None":
        """Choose at most 200 support images, evenly spaced; return None if no class has two."""
        numbers = class_numbers(task.classes, labels)
        candidates = torch.nonzero(task.counts[numbers] > 1).flatten()
        if not len(candidates):
            return None
        # Evenly spaced, so that all classes are among them although images come class by class.
        count = min(MOST_LEFT_OUT, len(candidates))
        spaced = np.unique(np.linspace(0, len(candidates) - 1, count).astype(int))
        chosen = candidates[spaced]
        return cls(task, features[chosen.to(features.device)], numbers[chosen])

    def scores(self, score: RejectionScore) -> NDArray[np.float64]:
        """Return how little each image belongs to the task, leaving it out of its own mean."""
        device = self.features.device
        means = class_means(self.task.totals, self.task.counts, device)
        by_class = score.by_class(self.features, means.means[0])
        # Only the mean of the image's own class changes, so one comparison is replaced.
        rest = self._means_without(self.features, self.numbers).means[0]
        to_own_class = score.by_class(self.features[:, None], rest[:, None])[:, 0]
        by_class = by_class.scatter(1, self.numbers[:, None].to(device), to_own_class)
        return score.overall(by_class).cpu().double().numpy()

    def spread(self, thresholds: Rejection) -> float | None:
        """Return how far the images lie from each other, relative to the measured tasks."""
        # Without the image itself its class has one image less.
        shot = float(np.median(self.task.counts[self.numbers].numpy())) - 1
        scores = self.scores(thresholds.score)
        return thresholds.spread_ratio(len(self.task.classes), shot, scores)

    def accuracy(
        self, model: FewShotModel, prior: WeightDistribution, parameters: AnswerParameters
    ) -> float:
        """Return the share of images that the classifier without them gets right."""
        right = []
        for feature, number in zip(self.features, self.numbers, strict=True):
            label = int(number)
            means = self._means_without(feature[None], number[None])
            without = replace_class(model, prior, label, means)
            prediction = predict_queries(
                model, without, feature[None], int(parameters.samples), parameters.seed
            )
            right.append(int(prediction.probabilities[0, 0].argmax()) == label)
        return float(np.mean(right))

    def _means_without(self, features: Tensor, numbers: Tensor) -> ClassMeans:
        """Return the mean of each image's class without the image, (1, n, d)."""
        totals = self.task.totals[numbers] - features.cpu().double()
        return class_means(totals, self.task.counts[numbers] - 1, features.device)
