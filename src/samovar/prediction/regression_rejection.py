"""Thresholds on the rejection score of a regression.

How large the score is for images that belong differs between collections of images: at 5-way 5-shot
one threshold for all rejects 0.1 % of handwritten characters and 15 % of small photographs where
5 % are asked for. The support tells: the scores of its own images, each left out, are about as
large as those of new images. So thresholds are kept *relative* to their level (the 90 % quantile),
which brings the shares to 4 % to 8 %. With one image of each class nothing can be left out, and
thresholds are absolute.
"""

import dataclasses
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from samovar.errors import UnreadableError
from samovar.prediction.rejection import (
    RATES,
    ShapeThresholds,
    StoredTable,
    ThresholdTable,
    interpolated,
)
from samovar.settings.checked import checked

SCORE = "log variance - 2 x largest score"
"""The name of `samovar.prediction.regression.rejection_score` in stored tables."""


@dataclass(frozen=True)
class RegressionThresholds(ShapeThresholds):
    """Thresholds for tasks of one shape, in the order of RATES."""

    relative: tuple[float, ...] | None = None
    """Thresholds less the level of the support's left-out scores; None with one shot."""

    def is_whole(self) -> bool:
        """Return whether there is a finite threshold for every rate."""
        if self.relative is None:
            return super().is_whole()
        whole = len(self.relative) == len(RATES) and bool(np.isfinite(self.relative).all())
        return whole and super().is_whole()


@dataclass(frozen=True)
class RegressionRejection(ThresholdTable[RegressionThresholds]):
    """Quantiles of the rejection score over queries that do belong to their task."""

    def threshold(
        self, way: int, shots: NDArray[np.integer[Any]], rate: float, left_out: float | None
    ) -> float:
        """Return the score above which a query is rejected.

        Args:
            way: The number of classes.
            shots: The number of support images of each.
            rate: The share of queries that belong but are rejected.
            left_out: The level of the task's left-out support images, if there are any.
        """
        shot = float(np.median(shots))
        if left_out is None:
            return interpolated(self.nearest(way, shot).thresholds, rate)
        # Where images could be left out, the nearest shape must be one where they could be, too.
        cell = self.nearest(way, max(shot, 2))
        if cell.relative is None:
            return interpolated(cell.thresholds, rate)
        return left_out + interpolated(cell.relative, rate)

    @classmethod
    def from_dict(cls, stored: dict[str, Any]) -> "RegressionRejection":
        """Read the JSON form of `to_dict`."""
        table = checked(StoredTable[RegressionThresholds], stored)
        if table.score != SCORE:
            raise UnreadableError("the rejection thresholds are not those of a regression")
        table.check()
        return cls(table.about, table.cells)

    def to_dict(self) -> dict[str, Any]:
        """Return the form that JSON holds."""
        cells = [dataclasses.asdict(cell) for cell in self.cells]
        return {"score": SCORE, "about": self.about, "cells": cells}
