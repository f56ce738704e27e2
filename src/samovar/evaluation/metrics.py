"""Figures of answers: NLL, Brier score, expected calibration error with its interval, reliability."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from samovar.core.randomness import generator
from samovar.evaluation.outcomes import Outcomes

BINS = 15


@dataclass(frozen=True)
class TaskMetrics:
    """One row for each task: mean accuracy, NLL and Brier score of its queries, and what calibration needs.

    bins: (tasks, 15, 3): for each of 15 equal bins of the top probability, the number of queries, the sum of their top
    probabilities and the number of right answers.
    """

    accuracy: NDArray[np.float64]
    nll: NDArray[np.float64]
    brier: NDArray[np.float64]
    bins: NDArray[np.float64]

    @classmethod
    def of(cls, answers: Outcomes) -> "TaskMetrics":
        """From the answers to queries of the tasks' own classes; others play no part."""
        inside = answers.inside
        right, top = inside.right.astype(np.float64), inside.top.astype(np.float64)
        # bins are (lower, upper], as is the custom
        position = np.clip(np.ceil(top * BINS).astype(np.int64) - 1, 0, BINS - 1)
        cell = (np.arange(len(top))[:, None] * BINS + position).ravel()
        sums = [
            np.bincount(cell, each.ravel(), len(top) * BINS)
            for each in (np.ones_like(top), top, right)
        ]
        bins = np.stack(sums, -1).reshape(-1, BINS, 3).astype(np.float64)
        nll, brier = (
            each.astype(np.float64).mean(1) for each in (-inside.log_likelihood, inside.brier)
        )
        return cls(right.mean(1), nll, brier, bins)


def mean_with_interval(values: NDArray[np.float64]) -> dict[str, float]:
    """Mean over tasks and the half-width of its 95 % interval, 1.96 std / sqrt(tasks)."""
    spread = values.std(ddof=1) if len(values) > 1 else 0.0
    return {"mean": float(values.mean()), "ci95": float(1.96 * spread / np.sqrt(len(values)))}


def expected_calibration_error(bins: NDArray[np.float64]) -> float:
    """sum over bins of |right answers - sum of top probabilities| / queries; bins (15, 3) pooled over all queries."""
    return float(np.abs(bins[:, 2] - bins[:, 1]).sum() / max(1.0, bins[:, 0].sum()))


def resampled_bins(
    bins: NDArray[np.float64], seed: int, resamples: int = 500
) -> NDArray[np.float64]:
    """Bins pooled over tasks drawn with replacement: (resamples, 15, 3). The same tasks are drawn for the same seed."""
    draws = generator(seed, "bootstrap").multinomial(
        len(bins), np.full(len(bins), 1 / len(bins)), size=resamples
    )
    return np.tensordot(draws.astype(np.float64), bins, axes=1)


def calibration(figures: TaskMetrics, seed: int) -> dict[str, Any]:
    """The pooled error with a 95 % interval by bootstrap over tasks (averages per task would be biased)."""
    errors = [expected_calibration_error(each) for each in resampled_bins(figures.bins, seed)]
    low, high = np.quantile(errors, [0.025, 0.975])
    return {
        "value": expected_calibration_error(figures.bins.sum(0)),
        "ci95": [float(low), float(high)],
    }


def reliability(figures: TaskMetrics) -> list[dict[str, float]]:
    """For each bin that is not empty: queries in it, their mean top probability, their accuracy."""
    return [
        {"queries": int(count), "confidence": float(top / count), "accuracy": float(right / count)}
        for count, top, right in figures.bins.sum(0)
        if count
    ]
