"""A fitted task: class sums of the support's features, which are all that the inference network needs."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor

from samovar.classifier.labels import sorted_labels


@dataclass(frozen=True)
class FittedTask:
    """What a classifier keeps of its support images.

    classes: labels in order; totals: (N, d) float64, the sum of each class's features; counts: (N,). With TEN,
    `conditioned` is the same sum of the features conditioned on the task.
    """

    classes: tuple[Any, ...]
    totals: Tensor
    counts: Tensor
    conditioned: Tensor | None = None

    @classmethod
    def of(cls, features: Tensor, labels: Sequence[Any]) -> "FittedTask":
        """From features (n, d) and a label for each."""
        classes = tuple(sorted_labels(labels))
        position = {label: index for index, label in enumerate(classes)}
        index = torch.tensor([position[label] for label in labels])
        totals = torch.zeros(len(classes), features.shape[1], dtype=torch.float64)
        totals.index_add_(0, index, features.cpu().double())
        return cls(classes, totals, torch.bincount(index, minlength=len(classes)))

    def __or__(self, other: "FittedTask") -> "FittedTask":
        """Both sets of images together; classes of either."""
        classes = tuple(sorted_labels([*self.classes, *other.classes]))
        position = {label: index for index, label in enumerate(classes)}
        totals = torch.zeros(len(classes), self.totals.shape[1], dtype=torch.float64)
        counts = torch.zeros(len(classes), dtype=torch.int64)
        for part in (self, other):
            rows = torch.tensor([position[label] for label in part.classes])
            totals.index_add_(0, rows, part.totals)
            counts.index_add_(0, rows, part.counts)
        return FittedTask(classes, totals, counts)
