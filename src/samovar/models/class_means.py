"""Class means: all that the inference network needs of a labelled set."""

from dataclasses import dataclass

import torch
from torch import Tensor
from torch.nn import functional

from samovar.models.precision import full_precision


@dataclass(frozen=True)
class ClassMeans:
    """Sums of the features of each class, (T, N, d), and the number of images in each, (T, N).

    Sums and counts are kept instead of means, so that two labelled sets can be united exactly.
    Classes are told apart by label: shots may be unequal, and a class may have no images at all.
    Where the totals are means already, with a count of 1, `averaged` says over how many images.

    >>> features = torch.tensor([[[1.0], [3.0], [5.0]]])
    >>> ClassMeans.of(features, torch.tensor([[0, 0, 1]]), way=2).means
    tensor([[[2.],
             [5.]]])
    """

    totals: Tensor
    counts: Tensor
    averaged: Tensor | None = None

    @classmethod
    def of(cls, features: Tensor, labels: Tensor, way: int) -> "ClassMeans":
        """Sum up features (T, n, d) by their labels (T, n) from 0 to N - 1."""
        with full_precision(features):
            # A product of matrices, because index_add_ adds in no fixed order on a GPU.
            members = functional.one_hot(labels, way).to(torch.float32)
            totals = members.transpose(1, 2) @ features.float()
            return cls(totals, members.sum(1))

    def __or__(self, other: "ClassMeans") -> "ClassMeans":
        """Unite two labelled sets, giving every image equal weight."""
        return ClassMeans(self.totals + other.totals, self.counts + other.counts)

    @property
    def means(self) -> Tensor:
        """The class means c_n, (T, N, d); NaN for a class without images."""
        return self.totals / self.counts[..., None]

    @property
    def images(self) -> Tensor:
        """The number of images that each mean is taken over, (T, N)."""
        if self.averaged is None:
            return self.counts
        return self.averaged
