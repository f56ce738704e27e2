"""Leave-one-out: each support image is classified as if it had not been in the support.

This tells how well the task can be learned from its own images, and how far these lie from each
other, by which rejection thresholds are scaled. Class sums make it cheap: leaving an image out
changes the mean of one class, and nothing else.
"""

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
class Mistake:
    """A support image that the others answer wrongly."""

    position: int
    """Where it stands in the support, in the order of fitting."""
    label: Any
    answer: Any


@dataclass(frozen=True)
class LeaveOneOut:
    """How well support images are classified by the others."""

    images: int
    accuracy: float
    rejected: float | None
    """The share that is rejected; None where rejection is off."""
    wrong: tuple[Mistake, ...] = ()
    """The images that are answered wrongly; not known of a task that was read from a file."""

    def to_json(self) -> dict[str, Any]:
        """Return the numbers, in the order of task files."""
        return {"images": self.images, "accuracy": self.accuracy, "rejected": self.rejected}


def mistakes(
    classes: Sequence[Any], positions: Sequence[int], numbers: Tensor, answers: Tensor
) -> tuple[Mistake, ...]:
    """Return the images whose answer is not the number of their own class.

    >>> mistakes("ab", [4, 7], torch.tensor([0, 1]), torch.tensor([0, 0]))
    (Mistake(position=7, label='b', answer='a'),)
    """
    wrong = []
    truths = numbers.tolist()
    for position, number, answer in zip(positions, truths, answers.tolist(), strict=True):
        if answer != number:
            wrong.append(Mistake(position, classes[number], classes[answer]))
    return tuple(wrong)


@dataclass(frozen=True)
class LeftOut:
    """The support images that are left out in turn: those of classes with two or more."""

    task: FittedTask
    features: Tensor
    """Their features (n, d)."""
    numbers: Tensor
    """The numbers of their classes (n,)."""
    positions: tuple[int, ...]
    """Where they stand in the support."""

    @classmethod
    def of(
        cls,
        task: FittedTask,
        features: Tensor,
        labels: Sequence[Any],
        most: int = MOST_LEFT_OUT,
    ) -> "LeftOut | None":
        """Choose at most so many support images, evenly spaced; return None if no class has two."""
        numbers = class_numbers(task.classes, labels)
        candidates = torch.nonzero(task.counts[numbers] > 1).flatten()
        if not len(candidates):
            return None
        # Evenly spaced, so that all classes are among them although images come class by class.
        count = min(most, len(candidates))
        spaced = np.unique(np.linspace(0, len(candidates) - 1, count).astype(int))
        chosen = candidates[spaced]
        positions = tuple(chosen.tolist())
        return cls(task, features[chosen.to(features.device)], numbers[chosen], positions)

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

    def answers(
        self, model: FewShotModel, prior: WeightDistribution, parameters: AnswerParameters
    ) -> Tensor:
        """Return the number of the class that the classifier without it gives to each image."""
        return self.probabilities(model, prior, parameters).argmax(1)

    def probabilities(
        self, model: FewShotModel, prior: WeightDistribution, parameters: AnswerParameters
    ) -> Tensor:
        """Return the probabilities (n, N) that the classifier without it gives to each image."""
        answers = []
        for feature, number in zip(self.features, self.numbers, strict=True):
            means = self._means_without(feature[None], number[None])
            without = replace_class(model, prior, int(number), means)
            prediction = predict_queries(
                model, without, feature[None], int(parameters.samples), parameters.seed
            )
            answers.append(prediction.probabilities[0, 0].cpu())
        return torch.stack(answers)

    def _means_without(self, features: Tensor, numbers: Tensor) -> ClassMeans:
        """Return the mean of each image's class without the image, (1, n, d)."""
        totals = self.task.totals[numbers] - features.cpu().double()
        return class_means(totals, self.task.counts[numbers] - 1, features.device)
