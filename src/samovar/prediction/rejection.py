"""When to answer "none of these": a score of how little a query belongs, and thresholds on it.

The entropy of the predictive is the doubt *between* the classes: it is small for a query that is
far from all of them, but less far from one than from the others. A rejection score measures how far
it is, and finds such queries better (docs/own_images.md). Thresholds are quantiles of the score
over queries that do belong to their task. They are measured on held-out classes
(`samovar.evaluation.rejection_thresholds`), stored with the model, and adapted to how far the
user's own images lie from each other.

A new score is a subclass of `RejectionScore` in a file of its own, and one call of
`register_rejection_score`.
"""

import dataclasses
import math
from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

import numpy as np
from numpy.typing import NDArray
from torch import Tensor
from torch.nn import functional

from samovar.errors import SettingsError, UnreadableError
from samovar.models.precision import full_precision
from samovar.settings.checked import checked

RATES = (0.5, 0.4, 0.3, 0.2, 0.15, 0.1, 0.07, 0.05, 0.03, 0.02, 0.01, 0.005)
"""False-rejection rates whose thresholds are stored; others are interpolated."""
MEDIAN = RATES.index(0.5)
"""Where thresholds have the median of the score."""
MOST_CHANGE = 2.0
"""Thresholds follow the task's own images by this factor at most."""


class RejectionScore(ABC):
    """How little a query belongs to a task: the higher, the less.

    In two steps, so that leave-one-out can replace the comparison with one class.
    """

    name: str
    """Stored with thresholds, which mean nothing for another score."""

    @abstractmethod
    def by_class(self, features: Tensor, class_means: Tensor) -> Tensor:
        """Compare each query with each class: (..., Q, d), (..., N, d) -> (..., Q, N)."""

    @abstractmethod
    def overall(self, by_class: Tensor) -> Tensor:
        """Combine the comparisons with all classes: (..., Q, N) -> (..., Q)."""

    def __call__(self, features: Tensor, class_means: Tensor) -> Tensor:
        """Return the scores (..., Q) of features (..., Q, d), given class means (..., N, d)."""
        return self.overall(self.by_class(features, class_means))


@dataclass(frozen=True)
class CosineDistance(RejectionScore):
    """1 - the cosine between a query and the nearest class mean, from 0 to 2.

    >>> import torch
    >>> queries = torch.tensor([[3.0, 0.0], [-1.0, 0.0]])
    >>> CosineDistance()(queries, torch.tensor([[1.0, 0.0], [0.0, 1.0]]))
    tensor([0., 1.])
    """

    name = "cosine distance to the nearest class mean"

    def by_class(self, features: Tensor, class_means: Tensor) -> Tensor:
        """Return the cosine between each query and each class mean.

        By one product of matrices: torch's cosine_similarity would hold Q x N x d numbers.
        """
        with full_precision(features):
            directions = functional.normalize(features.float(), dim=-1)
            return directions @ functional.normalize(class_means.float(), dim=-1).mT

    def overall(self, by_class: Tensor) -> Tensor:
        """Return 1 - the largest cosine; rounding may pass 0 or 2."""
        return (1 - by_class.amax(-1)).clamp(0, 2)


COSINE_DISTANCE = CosineDistance()
SCORES: dict[str, RejectionScore] = {COSINE_DISTANCE.name: COSINE_DISTANCE}


def register_rejection_score(score: RejectionScore) -> None:
    """Make a score known, so that models with thresholds on it can be saved and loaded."""
    if score.name in SCORES:
        raise SettingsError(
            f"There is already a rejection score called {score.name!r}. Choose another name."
        )
    SCORES[score.name] = score


def check_rejection_rate(rate: Any) -> None:
    """Refuse a rate for which there are no thresholds."""
    is_number = isinstance(rate, int | float | np.number) and not isinstance(rate, bool)
    if not is_number or not min(RATES) <= rate <= max(RATES):
        raise SettingsError(f"reject must be from {min(RATES)} to {max(RATES)}, but is {rate!r}.")


def threshold_factor(spread: float | None) -> float:
    """Return what thresholds are multiplied by for a task with this spread.

    A task's images may lie closer together than those that were measured. The factor is the square
    root of `Rejection.spread_ratio`. The whole ratio would trust a few images too much: photographs
    that were taken in a row are alike, and new ones would be rejected too often.
    """
    if spread is None:
        return 1.0
    return min(max(math.sqrt(spread), 1 / MOST_CHANGE), MOST_CHANGE)


@dataclass(frozen=True)
class ShapeThresholds:
    """Thresholds for tasks of one shape, in the order of RATES."""

    way: int
    shot: int
    thresholds: tuple[float, ...]

    def is_whole(self) -> bool:
        """Return whether there is a finite threshold for every rate."""
        whole = len(self.thresholds) == len(RATES) and bool(np.isfinite(self.thresholds).all())
        return whole and self.way > 0 and self.shot > 0


Cell = TypeVar("Cell", bound=ShapeThresholds)


@dataclass(frozen=True)
class ThresholdTable(Generic[Cell]):
    """Quantiles of some score over queries that do belong to their task, by way and shot."""

    about: str
    """The tasks that they come from."""
    cells: tuple[Cell, ...]

    def nearest(self, way: int, shot: float) -> Cell:
        """Return the thresholds of the nearest measured shape; the distance is in ratios."""

        def difference(cell: Cell) -> float:
            return abs(math.log(cell.way / way)) + abs(math.log(cell.shot / shot))

        return min(self.cells, key=difference)


@dataclass(frozen=True)
class StoredTable(ThresholdTable[Cell]):
    """A table as config.json holds it, with the name of its score."""

    score: str

    def check(self) -> None:
        """Refuse a table in which a threshold is missing."""
        if not self.cells or not all(cell.is_whole() for cell in self.cells):
            raise UnreadableError("the rejection thresholds are not whole")


def interpolated(thresholds: Sequence[float], rate: float) -> float:
    """Return the threshold for a rate, from those for RATES."""
    check_rejection_rate(rate)
    log_rates = np.log(RATES[::-1])  # interpolation wants them to rise
    return float(np.interp(math.log(rate), log_rates, thresholds[::-1]))


@dataclass(frozen=True)
class Rejection(ThresholdTable[ShapeThresholds]):
    """Quantiles of a score of features and class means."""

    score: RejectionScore = COSINE_DISTANCE

    def threshold(
        self, way: int, shots: NDArray[np.integer[Any]], rate: float
    ) -> tuple[float, ShapeThresholds]:
        """Return the score above which a query is rejected, and the measured shape it is from.

        `rate` is the share of queries of the task's own classes that are rejected, on tasks like
        the measured ones.
        """
        check_rejection_rate(rate)
        cell = self.nearest(way, float(np.median(shots)))
        return interpolated(cell.thresholds, rate), cell

    def spread_ratio(
        self, way: int, shot: float, scores: NDArray[np.floating[Any]]
    ) -> float | None:
        """Return the median of the scores over the measured median, or None if that is zero.

        `scores` are those of the support images, each compared with class means that leave it out;
        `shot` is the number of images that its class then has.
        """
        usual = self.nearest(way, shot).thresholds[MEDIAN]
        if usual <= 0:
            return None
        return float(np.median(scores)) / usual

    @classmethod
    def from_dict(cls, stored: dict[str, Any]) -> "Rejection | None":
        """Read the JSON form of `to_dict`; None where the thresholds are of an unknown score."""
        score = SCORES.get(stored.get("score", ""))
        if score is None:
            return None
        table = checked(StoredTable[ShapeThresholds], stored)
        table.check()
        return cls(table.about, table.cells, score)

    def to_dict(self) -> dict[str, Any]:
        """Return the form that JSON holds."""
        cells = [dataclasses.asdict(cell) for cell in self.cells]
        return {"score": self.score.name, "about": self.about, "cells": cells}


def describe_rejection(
    table: ThresholdTable[Any],
    rate: float,
    way: int,
    shots: Sequence[int] | NDArray[np.integer[Any]],
    factor: float = 1.0,
) -> str:
    """Say in a sentence what a rejection rate means for a task."""
    cell = table.nearest(way, float(np.median(shots)))
    shape = f"{cell.way}-way {cell.shot}-shot"
    if cell.way != way or float(np.median(shots)) != cell.shot:
        shape += ", the nearest shape that was measured"
    text = f"about {rate:.1%} of the images that do belong are rejected (measured on {table.about}"
    text += f"; {shape})"
    if factor != 1:
        text += f"; the threshold is multiplied by {factor:.2f} for the spread of these images"
    return text
