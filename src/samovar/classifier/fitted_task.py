"""A fitted task: class sums of the support's features, all that inference needs."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import torch
from torch import Tensor

from samovar.classifier.labels import sorted_labels
from samovar.errors import DataError


@dataclass(frozen=True)
class FittedTask:
    """What a classifier keeps of its support images: sums, to which more can be added.

    >>> task = FittedTask.of(torch.tensor([[1.0], [2.0], [5.0]]), ["b", "b", "a"])
    >>> task.classes, task.totals.tolist(), task.counts.tolist()
    (('a', 'b'), [[5.0], [3.0]], [1, 2])
    """

    classes: tuple[Any, ...]
    """The labels of the N classes, in order."""
    totals: Tensor
    """The sum of the features of each class, (N, d) float64."""
    counts: Tensor
    """The number of images of each class, (N,) int64."""
    conditioned: Tensor | None = None
    """With TEN, the sum of the features conditioned on this very task, (N, d) float64."""

    @classmethod
    def of(cls, features: Tensor, labels: Sequence[Any]) -> "FittedTask":
        """Return the task of features (n, d) and a label for each."""
        classes = tuple(sorted_labels(labels))
        numbers = class_numbers(classes, labels)
        # In float64, so that the order of the images does not matter; not every device has it.
        totals = torch.zeros(len(classes), features.shape[1], dtype=torch.float64)
        totals.index_add_(0, numbers, features.cpu().double())
        return cls(classes, totals, torch.bincount(numbers, minlength=len(classes)))

    def __or__(self, other: "FittedTask") -> "FittedTask":
        """Return the task of both sets of images, over the classes of either.

        Conditioned features depend on the whole support, so their sums do not add up: they are
        refused here. Take the union of the tasks `without_conditioning`, and condition that.
        """
        if self.conditioned is not None or other.conditioned is not None:
            raise ValueError("Sums of conditioned features cannot be added; condition the union.")
        classes = tuple(sorted_labels([*self.classes, *other.classes]))
        totals = torch.zeros(len(classes), self.totals.shape[1], dtype=torch.float64)
        counts = torch.zeros(len(classes), dtype=torch.int64)
        for task in (self, other):
            numbers = class_numbers(classes, task.classes)
            totals.index_add_(0, numbers, task.totals)
            counts.index_add_(0, numbers, task.counts)
        return FittedTask(classes, totals, counts)

    def without_conditioning(self) -> "FittedTask":
        """Return the task with the sums of its plain features only."""
        return replace(self, conditioned=None)


def check_images(inputs: Sequence[Tensor], labels: Sequence[Any]) -> None:
    """Refuse no images at all, and images without labels."""
    if not inputs:
        raise DataError("There is nothing to fit: give at least one image.")
    if len(inputs) != len(labels):
        raise ValueError(
            f"There are {len(inputs)} images but {len(labels)} labels "
            "(inconsistent numbers of samples)."
        )


def class_numbers(classes: Sequence[Any], labels: Sequence[Any]) -> Tensor:
    """Return the position of each label among the classes, (n,).

    >>> class_numbers(["a", "b"], ["b", "a", "b"])
    tensor([1, 0, 1])
    """
    position = {label: number for number, label in enumerate(classes)}
    return torch.tensor([position[label] for label in labels])
