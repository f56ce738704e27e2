"""A fitted task of a regression: the encoder's vectors of the support, with their classes."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor

from samovar.classifier.fitted_task import class_numbers
from samovar.classifier.labels import sorted_labels


@dataclass(frozen=True)
class RegressionTask:
    """What a regression keeps of its support images: a vector for each, no pixels.

    >>> task = RegressionTask.of(torch.tensor([[1.0], [2.0], [5.0]]), ["b", "b", "a"])
    >>> task.classes, task.numbers.tolist(), task.counts.tolist()
    (('a', 'b'), [1, 1, 0], [1, 2])
    """

    classes: tuple[Any, ...]
    """The labels of the N classes, in order."""
    vectors: Tensor
    """The encoder's vectors of the support images, (n, d) float32."""
    numbers: Tensor
    """The position of each image's label among the classes, (n,) int64."""

    @property
    def counts(self) -> Tensor:
        """The number of images of each class, (N,) int64."""
        return torch.bincount(self.numbers, minlength=len(self.classes))

    @classmethod
    def of(cls, vectors: Tensor, labels: Sequence[Any]) -> "RegressionTask":
        """Return the task of vectors (n, d) and a label for each."""
        classes = tuple(sorted_labels(labels))
        return cls(classes, vectors.float(), class_numbers(classes, labels))

    def __or__(self, other: "RegressionTask") -> "RegressionTask":
        """Return the task of both sets of images, over the classes of either."""
        vectors = torch.cat([self.vectors, other.vectors])
        return RegressionTask.of(vectors, [*self.labels, *other.labels])

    @property
    def labels(self) -> list[Any]:
        """The label of each image."""
        return [self.classes[number] for number in self.numbers.tolist()]
