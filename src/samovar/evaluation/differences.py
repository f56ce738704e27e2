"""Differences of two predictors on the same tasks, with their 95 % intervals.

Both answered the same tasks, so differences are taken task by task: that a task was hard for both
cancels out. The calibration error is no mean over tasks; its interval is from a bootstrap that
draws the same tasks for both.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from samovar.evaluation.metrics import (
    Estimate,
    TaskMetrics,
    expected_calibration_error,
    percentile_interval,
    resampled_errors,
)

Bins = Sequence[NDArray[np.float64]]
"""The calibration bins (tasks, 15, 3) of one method, for each of its training seeds."""


@dataclass(frozen=True)
class CalibrationDifference:
    """The difference of two calibration errors, with the bounds of its 95 % interval.

    One task has no interval.
    """

    mean: float
    ci95: list[float] | None

    @classmethod
    def of(cls, first: Bins, second: Bins, seed: int) -> "CalibrationDifference":
        """Subtract the pooled calibration errors, each as the mean over training seeds."""
        difference = float(np.mean(pooled_errors(first)) - np.mean(pooled_errors(second)))
        if len(first[0]) < 2:
            return cls(difference, None)
        # The same seed resamples the same tasks for all models, so that this is paired too.
        resampled = _mean_resampled_errors(first, seed) - _mean_resampled_errors(second, seed)
        return cls(difference, percentile_interval(resampled))


def pooled_errors(seeds: Bins) -> list[float]:
    """Return the pooled calibration error of each training seed."""
    return [expected_calibration_error(bins.sum(0)) for bins in seeds]


def _mean_resampled_errors(seeds: Bins, seed: int) -> NDArray[np.float64]:
    return np.mean([resampled_errors(bins, seed) for bins in seeds], axis=0)


@dataclass(frozen=True)
class PairedDifferences:
    """All metrics of a first predictor minus those of a second one, on the same tasks."""

    accuracy: Estimate
    nll: Estimate
    brier: Estimate
    ece: CalibrationDifference
    gap: Estimate

    @classmethod
    def of(cls, first: TaskMetrics, second: TaskMetrics, seed: int) -> "PairedDifferences":
        """Subtract task by task; `seed` is that of the bootstrap."""
        return cls(
            accuracy=Estimate.of(first.accuracy - second.accuracy),
            nll=Estimate.of(first.nll - second.nll),
            brier=Estimate.of(first.brier - second.brier),
            ece=CalibrationDifference.of([first.bins], [second.bins], seed),
            gap=Estimate.of(first.gap - second.gap),
        )
