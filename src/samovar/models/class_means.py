"""Class means: all that the inference network needs of a labelled set."""

from dataclasses import dataclass

import torch
from torch import Tensor
from torch.nn import functional

from samovar.models.precision import full_precision


@dataclass(frozen=True)
class ClassMeans:
    """Sum of the features of each class, (T, N, d), and their number, (T, N): all that g needs of a labelled set."""

    totals: Tensor
    counts: Tensor

    @classmethod
    def of(cls, features: Tensor, labels: Tensor, way: int) -> "ClassMeans":
        """From features (T, n, d) and labels (T, n)."""
        with full_precision(features):
            members = functional.one_hot(labels, way).to(torch.float32)
            return cls(members.transpose(1, 2) @ features.float(), members.sum(1))

    def __or__(self, other: "ClassMeans") -> "ClassMeans":
        """The union of two sets, every image with equal weight."""
        return ClassMeans(self.totals + other.totals, self.counts + other.counts)

    @property
    def means(self) -> Tensor:
        """Class means c_n (T, N, d)."""
        return self.totals / self.counts[..., None]
