"""When to answer "none of these": thresholds on the distance to the nearest class."""

import dataclasses
import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from torch import Tensor
from torch.nn import functional

from samovar.errors import SettingsError
from samovar.models.precision import full_precision

SCORE = "cosine distance to the nearest class mean"
"""What the thresholds are of; those of another score say nothing here."""
RATES = (0.5, 0.4, 0.3, 0.2, 0.15, 0.1, 0.07, 0.05, 0.03, 0.02, 0.01, 0.005)
"""False-rejection rates whose thresholds are stored; others lie between them."""
MOST_CHANGE = 2.0
"""Thresholds follow the task's own images at most by this factor."""


def factor(spread: float | None) -> float:
    """What thresholds are multiplied by, since a task's images may lie closer together than those that were measured.

    The square root of `Rejection.spread`. The whole ratio would trust a few images too much: photographs that were
    taken in a row are alike, and new ones would be rejected too often.
    """
    return 1.0 if spread is None else min(max(math.sqrt(spread), 1 / MOST_CHANGE), MOST_CHANGE)


def check_rejection_rate(rate: Any) -> None:
    """Refuse a rate for which there are no thresholds."""
    if (
        isinstance(rate, bool)
        or not isinstance(rate, int | float | np.number)
        or not min(RATES) <= rate <= max(RATES)
    ):
        raise SettingsError(f"reject must be from {min(RATES)} to {max(RATES)}, but is {rate!r}.")


@dataclass(frozen=True)
class Cell:
    """Thresholds for tasks of one shape, in the order of RATES."""

    way: int
    shot: int
    thresholds: tuple[float, ...]


@dataclass(frozen=True)
class Rejection:
    """Quantiles of the distance of queries that do belong to their task, over ways and shots."""

    about: str
    """The tasks that they come from."""
    cells: tuple[Cell, ...]

    def nearest(self, way: int, shot: float) -> Cell:
        """The measured shape that is nearest, in ratios."""
        return min(
            self.cells, key=lambda c: abs(math.log(c.way / way)) + abs(math.log(c.shot / shot))
        )

    def threshold(
        self, way: int, shots: NDArray[np.integer[Any]], rate: float
    ) -> tuple[float, Cell]:
        """The distance above which a query is rejected, from the nearest measured shape.

        `rate` is the share of queries of the task's own classes that are rejected, on tasks like the measured ones.
        """
        check_rejection_rate(rate)
        cell = self.nearest(way, float(np.median(shots)))
        order = np.log(RATES[::-1])
        return float(np.interp(math.log(rate), order, cell.thresholds[::-1])), cell

    def spread(self, way: int, shot: float, distances: NDArray[np.floating[Any]]) -> float | None:
        """How far support images are from the classes without themselves: their median over the measured one.

        `shot` is the number of images that their classes then have. None if there is nothing to compare with.
        """
        usual = self.nearest(way, shot).thresholds[RATES.index(0.5)]
        return float(np.median(distances)) / usual if usual > 0 else None

    @classmethod
    def from_dict(cls, stored: dict[str, Any]) -> "Rejection | None":
        """From the JSON form of `to_dict`; None where the thresholds are of another score."""
        if not isinstance(stored, dict):
            raise TypeError("the rejection thresholds are not whole")
        if stored.get("score") != SCORE:
            return None
        cells = tuple(
            Cell(int(c["way"]), int(c["shot"]), tuple(map(float, c["thresholds"])))
            for c in stored["cells"]
        )
        whole = all(
            cell.way > 0
            and cell.shot > 0
            and len(cell.thresholds) == len(RATES)
            and np.isfinite(cell.thresholds).all()
            for cell in cells
        )
        if not cells or not whole:
            raise ValueError("the rejection thresholds are not whole")
        return cls(str(stored["about"]), cells)

    def to_dict(self) -> dict[str, Any]:
        """As JSON holds it."""
        return {"score": SCORE} | dataclasses.asdict(self)


def describe(
    cell: Cell,
    about: str,
    rate: float,
    ways: int,
    shots: Sequence[int] | NDArray[np.integer[Any]],
    change: float,
) -> str:
    """What a rate means, in a sentence."""
    text = f"{rate:.1%} of the queries that do belong are rejected on tasks like the measured ones ({about}"
    shape = f"{cell.way}-way {cell.shot}-shot"
    exact = cell.way == ways and float(np.median(shots)) == cell.shot
    own = "" if change == 1 else f"; threshold x {change:.2f} for the spread of these images"
    return f"{text}; {shape}{'' if exact else ', the nearest measured shape'}){own}"


def cosine(features: Tensor, class_means: Tensor) -> Tensor:
    """The cosine between each query and each class mean; (..., Q, d), (..., N, d) -> (..., Q, N).

    By one product of matrices: torch's cosine_similarity would hold Q x N x d numbers.
    """
    with full_precision(features):
        directions = functional.normalize(features.float(), dim=-1)
        return directions @ functional.normalize(class_means.float(), dim=-1).mT


def nearest(cosines: Tensor) -> Tensor:
    """1 - the cosine of the nearest class, from 0 to 2 (rounding may pass either); (..., Q, N) -> (..., Q)."""
    return (1 - cosines.amax(-1)).clamp(0, 2)


def cosine_distance(features: Tensor, class_means: Tensor) -> Tensor:
    """1 - the cosine between a query and the nearest class mean, from 0 to 2; (..., Q, d), (..., N, d) -> (..., Q).

    The entropy of the predictive is the doubt *between* the classes: it is small for a query that is like none of them
    as long as one is the least unlike. Distance asks how unlike, and finds such queries better (docs/own_images.md).

    >>> import torch
    >>> cosine_distance(torch.tensor([[3.0, 0.0], [-1.0, 0.0]]), torch.tensor([[1.0, 0.0], [0.0, 1.0]]))
    tensor([0., 1.])
    """
    return nearest(cosine(features, class_means))
