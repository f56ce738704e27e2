"""Collections of encoder vectors, by class: what closed-form models are trained and measured on.

Vectors of one collection of images fit into memory, so a task is drawn by indexing. As everywhere,
task i of a seed is a function of (seed, purpose, i).
"""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from samovar.core.randomness import generator
from samovar.data.npz import read_npz
from samovar.errors import DataError


@dataclass(frozen=True)
class VectorTask:
    """One task of vectors: support (n, d), query (Q, d), their labels, and queries of no class."""

    support: Tensor
    support_labels: Tensor
    query: Tensor
    query_labels: Tensor
    outside: Tensor
    way: int


@dataclass(frozen=True)
class VectorCollection:
    """The vectors of a collection of images, one tensor (n, d) for each class."""

    name: str
    classes: tuple[Tensor, ...]

    @classmethod
    def of(cls, name: str, vectors: NDArray[Any], labels: NDArray[Any]) -> "VectorCollection":
        """Group vectors (n, d) by their labels (n,)."""
        tensor = torch.from_numpy(np.asarray(vectors, np.float32))
        classes = [tensor[torch.from_numpy(labels == label)] for label in np.unique(labels)]
        return cls(name, tuple(classes))

    @classmethod
    def read(cls, path: Path) -> "VectorCollection":
        """Read an npz file with `features` (n, d) and `labels` (n,), as `samovar embed` has it."""
        try:
            stored = read_npz(path, ("features", "labels"))
            return cls.of(path.stem, stored["features"], stored["labels"])
        except (KeyError, ValueError) as error:
            raise DataError(f"{path} is not a file of vectors and labels ({error}).") from error

    def allows(self, way: int, shot: int) -> bool:
        """Return whether there are enough classes with an image beside their support."""
        return len(self._usable(shot)) >= way

    def _usable(self, shot: int) -> list[Tensor]:
        return [images for images in self.classes if len(images) > shot]

    def task(self, way: int, shot: int, queries: int, *, key: tuple[int, str, int]) -> VectorTask:
        """Draw a task; `key` is (seed, purpose, number).

        Classes with too few images for the queries give as many as they have; all classes of a task
        then give as many as the smallest.
        """
        seed, purpose, number = key
        noise = generator(seed, f"{purpose} {self.name}", number)
        usable = self._usable(shot)
        if len(usable) < way:
            raise DataError(
                f"{self.name} has {len(usable)} classes with more than {shot} images, "
                f"but tasks need {way}."
            )
        order = noise.permutation(len(usable))
        members = [usable[position] for position in order[:way]]
        most = min(queries, min(len(images) for images in members) - shot)
        support = []
        query = []
        for images in members:
            chosen = torch.from_numpy(noise.permutation(len(images)))
            support.append(images[chosen[:shot]])
            query.append(images[chosen[shot : shot + most]])
        return VectorTask(
            support=torch.cat(support),
            support_labels=torch.arange(way).repeat_interleave(shot),
            query=torch.cat(query),
            query_labels=torch.arange(way).repeat_interleave(most),
            outside=self._outside(
                noise, [usable[position] for position in order[way:]], way * most
            ),
            way=way,
        )

    def _outside(self, noise: np.random.Generator, others: list[Tensor], count: int) -> Tensor:
        """Draw images of other classes: a class at random, then one of its images."""
        drawn = []
        for _ in range(count if others else 0):
            images = others[noise.integers(len(others))]
            drawn.append(images[noise.integers(len(images))])
        if not drawn:
            return torch.zeros(0, self.classes[0].shape[1])
        return torch.stack(drawn)
