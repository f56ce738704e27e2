"""Thresholds for "none of these" of a regression, measured on vectors of several collections.

For every shape of task, as many tasks are drawn from each collection. The rejection scores of the
queries that belong to their task are collected, as they are and relative to the level of the
support's own left-out images; their quantiles are the thresholds for the asked rates.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from samovar.core.randomness import generator
from samovar.evaluation.rejection_thresholds import (
    MOST_QUERIES,
    MOST_QUERIES_PER_CLASS,
    SHOTS,
    WAYS,
)
from samovar.models.closed_form import ClosedForm
from samovar.prediction.regression import left_out_level, rejection_score
from samovar.prediction.regression_rejection import RegressionRejection, RegressionThresholds
from samovar.prediction.rejection import RATES

TASKS = 40
"""Tasks of each shape from each collection."""


@dataclass(frozen=True)
class VectorCollection:
    """The encoder's vectors of a collection of images, class by class."""

    name: str
    classes: tuple[Tensor, ...]
    """The vectors (n, d) of each class."""

    @classmethod
    def of(cls, name: str, vectors: NDArray[np.floating], labels: NDArray) -> "VectorCollection":  # type: ignore[type-arg]
        """Group vectors (n, d) by their labels (n,)."""
        tensor = torch.from_numpy(np.asarray(vectors, np.float32))
        classes = [tensor[torch.from_numpy(labels == label)] for label in np.unique(labels)]
        return cls(name, tuple(classes))

    @classmethod
    def read(cls, path: Path) -> "VectorCollection":
        """Read the arrays `features` and `labels` of an npz file, as `samovar embed` writes it."""
        with np.load(path, allow_pickle=False) as arrays:
            return cls.of(path.stem, arrays["features"], arrays["labels"])


@dataclass(frozen=True)
class VectorTask:
    """A task of vectors: support (n, d) with labels (n,), queries (Q, d) of the same classes."""

    support: Tensor
    labels: Tensor
    queries: Tensor
    way: int


@dataclass(frozen=True)
class VectorTaskShape:
    """Classes of a task, support images and queries of each."""

    way: int
    shot: int
    queries: int

    def fits(self, collection: VectorCollection) -> bool:
        """Return whether the collection has enough classes and images."""
        smallest = min(len(vectors) for vectors in collection.classes)
        return len(collection.classes) >= self.way and smallest >= self.shot + self.queries

    def draw(self, collection: VectorCollection, source: np.random.Generator) -> VectorTask:
        """Draw a task from a collection."""
        support = []
        queries = []
        for number in source.permutation(len(collection.classes))[: self.way]:
            vectors = collection.classes[number]
            order = source.permutation(len(vectors))
            support.append(vectors[order[: self.shot]])
            queries.append(vectors[order[self.shot : self.shot + self.queries]])
        labels = torch.arange(self.way).repeat_interleave(self.shot)
        return VectorTask(torch.cat(support), labels, torch.cat(queries), self.way)


def measure_regression_rejection(
    model: ClosedForm,
    collections: Sequence[VectorCollection],
    seed: int,
    tasks: int = TASKS,
) -> RegressionRejection | None:
    """Measure thresholds for every shape that the collections allow; None if they allow none.

    A collection that is too small for a shape is left aside there.
    """
    cells = []
    for way in WAYS:
        for shot in SHOTS:
            queries = min(MOST_QUERIES_PER_CLASS, MOST_QUERIES // way)
            shape = VectorTaskShape(way, shot, max(1, min(queries, _least_left(collections, shot))))
            cell = _measure_shape(model, collections, shape, seed, tasks)
            if cell is not None:
                cells.append(cell)
    if not cells:
        return None
    names = ", ".join(collection.name for collection in collections)
    about = f"{tasks} tasks of each shape from each of {names}"
    return RegressionRejection(about, tuple(cells))


def _least_left(collections: Sequence[VectorCollection], shot: int) -> int:
    """Return the images that every class of any collection has besides its support."""
    least = MOST_QUERIES
    for collection in collections:
        for vectors in collection.classes:
            if len(vectors) > shot:
                least = min(least, len(vectors) - shot)
    return least


@torch.no_grad()
def _measure_shape(
    model: ClosedForm,
    collections: Sequence[VectorCollection],
    shape: VectorTaskShape,
    seed: int,
    tasks: int,
) -> RegressionThresholds | None:
    scores = []
    relative = []
    for collection in collections:
        if not shape.fits(collection):
            continue
        for number in range(tasks):
            purpose = f"regression rejection {collection.name}"
            source = generator(seed, purpose, shape.way, shape.shot, number)
            task = shape.draw(collection, source)
            regression = model.infer(task.support, task.labels, task.way)
            belonging = rejection_score(regression.moments(task.queries))
            scores.append(belonging)
            level = left_out_level(regression)
            if level is not None:
                relative.append(belonging - level)
    if not scores:
        return None
    quantiles = _quantiles(relative) if relative else None
    return RegressionThresholds(shape.way, shape.shot, _quantiles(scores), quantiles)


def _quantiles(scores: list[Tensor]) -> tuple[float, ...]:
    quantiles = np.quantile(torch.cat(scores).numpy(), 1 - np.array(RATES))
    return tuple(float(quantile) for quantile in quantiles)
