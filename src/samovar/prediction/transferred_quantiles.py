"""Quantiles of 1 - p on other tasks, for tasks that have nothing to measure it on.

With one image of each class none can be left out. What remains is how large 1 - p of the true label
was on tasks of the same shape from held-out classes, which is measured when a model is trained and
stored with it. That is no guarantee: a user's task may be harder than those.
"""

import dataclasses
from dataclasses import dataclass
from typing import Any

from samovar.errors import SettingsError, UnreadableError
from samovar.prediction.rejection import (
    RATES,
    ShapeThresholds,
    StoredTable,
    ThresholdTable,
    interpolated,
)
from samovar.settings.checked import checked

SCORE = "1 - probability of the label"
"""The name of `samovar.prediction.conformal.nonconformity` in stored tables."""
SHOT = 1
"""Quantiles are measured for tasks with so many images of each class; others need none."""


@dataclass(frozen=True)
class TransferredQuantiles(ThresholdTable[ShapeThresholds]):
    """Quantiles of 1 - p of the true label over queries, for the confidences 1 - RATES."""

    def quantile(self, way: int, confidence: float) -> float:
        """Return what 1 - p of the true label did not exceed in this share of the queries."""
        lowest, highest = 1 - max(RATES), 1 - min(RATES)
        if not lowest <= confidence <= highest:
            raise SettingsError(
                f"With one image of each class, sets can have a confidence from {lowest:g} to "
                f"{highest:g}, but {confidence:g} was asked for."
            )
        rate = min(max(1 - confidence, min(RATES)), max(RATES))  # rounding may pass the bounds
        return interpolated(self.cell(way).thresholds, rate)

    def cell(self, way: int) -> ShapeThresholds:
        """Return the quantiles of the next larger number of classes, or of the largest.

        More classes have larger quantiles, so the larger number is the cautious one.
        """
        largest = max(self.cells, key=lambda cell: cell.way)
        enough = [cell for cell in self.cells if cell.way >= way]
        return min(enough, key=lambda cell: cell.way, default=largest)

    @classmethod
    def from_dict(cls, stored: dict[str, Any]) -> "TransferredQuantiles":
        """Read the JSON form of `to_dict`."""
        table = checked(StoredTable[ShapeThresholds], stored)
        if table.score != SCORE:
            raise UnreadableError("the quantiles of its sets are of an unknown score")
        table.check()
        return cls(table.about, table.cells)

    def to_dict(self) -> dict[str, Any]:
        """Return the form that JSON holds."""
        cells = [dataclasses.asdict(cell) for cell in self.cells]
        return {"score": SCORE, "about": self.about, "cells": cells}


def stored_quantiles(stored: dict[str, Any] | None) -> TransferredQuantiles | None:
    """Return the quantiles of a model's config; models of earlier versions have none."""
    if stored is None:
        return None
    return TransferredQuantiles.from_dict(stored)
