"""What the images of a task say of each other's labels.

Leave-one-out alone is misled where several labels are wrong: they speak for each other. So images
that are suspected are set aside and all are judged again by the rest, until no more change.
"""

from typing import NamedTuple

import torch
from torch import Tensor

from samovar.classifier.answer import AnswerParameters
from samovar.classifier.fitted_regression import FittedRegression
from samovar.classifier.fitted_task import class_numbers
from samovar.classifier.loading import Fitted
from samovar.errors import ModelError
from samovar.prediction.label_errors import wrong_label_probabilities

SUSPECTED = 0.5
"""An image is suspected if its label is more probably wrong than right."""
MOST_ROUNDS = 10


class Judgement(NamedTuple):
    """What is said of each support image."""

    probabilities: Tensor
    """Of its classes, by the images that are not suspected, and without itself, (n, N)."""
    labels: Tensor
    """The numbers of the given classes, (n,)."""
    wrong: Tensor
    """How probable it is that the label is wrong, (n,)."""
    able: Tensor
    """Whether anything can be said: its class must have another image, (n,)."""

    @property
    def suspected(self) -> Tensor:
        """Whether the label is more probably wrong than right, (n,)."""
        return self.wrong > SUSPECTED


def judge_support(fitted: Fitted, parameters: AnswerParameters) -> Judgement:
    """Judge the labels of a task's images, setting suspected ones aside."""
    labels = support_labels(fitted)
    counts = torch.bincount(labels, minlength=len(fitted.task.classes))
    able = counts[labels] > 1
    kept = torch.ones(len(labels), dtype=torch.bool)
    for _ in range(MOST_ROUNDS):
        probabilities = fitted.judged_by(kept, parameters)
        wrong = wrong_label_probabilities(probabilities, labels, able)
        judgement = Judgement(probabilities, labels, wrong, able)
        trusted = _with_every_class(~judgement.suspected, labels)
        if torch.equal(trusted, kept):
            break
        kept = trusted
    return judgement


def support_labels(fitted: Fitted) -> Tensor:
    """Return the numbers of the classes of a task's images, (n,)."""
    if isinstance(fitted, FittedRegression):
        return fitted.task.numbers
    if fitted.support is None or fitted.saved.model.task_embedding is not None:
        raise ModelError(
            "The images of this task cannot be judged: its file keeps only sums of their features, "
            "or its model has TEN. Check the folder of the images instead."
        )
    return class_numbers(fitted.task.classes, fitted.support.labels)


def _with_every_class(kept: Tensor, labels: Tensor) -> Tensor:
    """Keep all images of a class whose images are all suspected: something must stand for it."""
    kept = kept.clone()
    for number in torch.unique(labels):
        members = labels == number
        if not kept[members].any():
            kept[members] = True
    return kept
