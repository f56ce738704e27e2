"""The metrics of each task, and what is reported over all tasks.

Accuracy, NLL and Brier score are means over tasks. The expected calibration error is not: it is
computed from all queries of all tasks at once, because the mean of the errors of single tasks is
biased upward: a task has few queries, and chance alone moves them off the diagonal. That mean is
reported too, under a name of its own, since others report it. Neither has a sign, so the gap stands
beside them: above zero the answers are too sure, below zero too modest.
"""

from collections.abc import Sequence
from dataclasses import asdict, dataclass

import numpy as np
from numpy.typing import NDArray

from samovar.core.randomness import generator
from samovar.evaluation.outcomes import Outcomes

BINS = 15
"""Equal bins of the top probability for the calibration error."""

NO_INTERVAL = "no interval"
"""What stands in the place of the interval of a single task."""

MEAN_METRICS = ("accuracy", "nll", "brier")
"""The metrics that are means over tasks, by their names in files."""


@dataclass(frozen=True)
class Estimate:
    """A mean over tasks with the half-width of its 95 % interval, 1.96 std / sqrt(tasks).

    One task has no interval.

    >>> Estimate.of(np.array([0.5, 0.7])).to_json()
    {'mean': 0.6, 'ci95': 0.19...}
    >>> Estimate.of(np.array([0.5])).to_json()
    {'mean': 0.5, 'ci95': None}
    """

    mean: float
    ci95: float | None

    @classmethod
    def of(cls, values: NDArray[np.float64]) -> "Estimate":
        """Estimate the mean of a metric from its value in each task."""
        return cls(float(values.mean()), half_width(values))

    @property
    def excludes_zero(self) -> bool:
        """Whether the interval is there and does not hold zero."""
        return self.ci95 is not None and abs(self.mean) > self.ci95

    def to_json(self) -> dict[str, float | None]:
        """Return the form that evaluation.json stores."""
        return {"mean": self.mean, "ci95": self.ci95}


def half_width(values: NDArray[np.float64]) -> float | None:
    """Return the half-width of the 95 % interval of a mean, 1.96 std / sqrt(n).

    None for one value, which does not tell how far others would be from it.
    """
    if len(values) < 2:
        return None
    return float(1.96 * values.std(ddof=1) / np.sqrt(len(values)))


def with_interval(mean: str, half: float | None, unit: float = 1, digits: int = 2) -> str:
    """Return the text of a mean with the half-width of its interval, in some unit.

    >>> with_interval("95.12", 0.003, 100), with_interval("95.12", None)
    ('95.12 ± 0.30', '95.12 (no interval)')
    """
    if half is None:
        return f"{mean} ({NO_INTERVAL})"
    return f"{mean} ± {unit * half:.{digits}f}"


@dataclass(frozen=True)
class TaskMetrics:
    """The metrics of each task: means over its queries, and what calibration needs.

    bins: (tasks, 15, 3): for each of 15 equal bins of the top probability, the number of queries,
    the sum of their top probabilities and the number of correct predictions.
    """

    accuracy: NDArray[np.float64]
    nll: NDArray[np.float64]
    brier: NDArray[np.float64]
    bins: NDArray[np.float64]

    @property
    def gap(self) -> NDArray[np.float64]:
        """The mean top probability minus the accuracy of each task, (tasks,)."""
        return calibration_gaps(self.bins)

    @classmethod
    def of(cls, outcomes: Outcomes) -> "TaskMetrics":
        """Average over the queries of each task's classes; queries from outside are left out."""
        inside = outcomes.inside
        correct = inside.correct.astype(np.float64)
        top = inside.top.astype(np.float64)
        return cls(
            accuracy=correct.mean(1),
            nll=(-inside.log_likelihood).astype(np.float64).mean(1),
            brier=inside.brier.astype(np.float64).mean(1),
            bins=calibration_bins(top, correct),
        )


def calibration_bins(top: NDArray[np.float64], correct: NDArray[np.float64]) -> NDArray[np.float64]:
    """Sum up the queries (tasks, queries) of each task and bin: (tasks, 15, 3)."""
    tasks = len(top)
    # Bins are (lower, upper], as is the custom.
    position = np.clip(np.ceil(top * BINS).astype(np.int64) - 1, 0, BINS - 1)
    # One number for each pair of task and bin, so that a single bincount makes all sums.
    cell = (np.arange(tasks)[:, None] * BINS + position).ravel()
    queries = np.bincount(cell, minlength=tasks * BINS).astype(np.float64)
    confidence = np.bincount(cell, top.ravel(), tasks * BINS)
    hits = np.bincount(cell, correct.ravel(), tasks * BINS)
    return np.stack([queries, confidence, hits], -1).reshape(-1, BINS, 3)


def expected_calibration_error(bins: NDArray[np.float64]) -> float:
    """Return sum over bins of |correct - sum of top probabilities| / queries; bins (15, 3)."""
    return float(calibration_errors(bins))


def calibration_errors(bins: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the calibration error of each task by itself; bins (tasks, 15, 3)."""
    queries = np.maximum(1.0, bins[..., 0].sum(-1))
    return np.abs(bins[..., 2] - bins[..., 1]).sum(-1) / queries


def calibration_gaps(bins: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the mean top probability minus the accuracy of each task; bins (tasks, 15, 3)."""
    queries = np.maximum(1.0, bins[..., 0].sum(-1))
    return (bins[..., 1] - bins[..., 2]).sum(-1) / queries


def resampled_bins(
    bins: NDArray[np.float64], seed: int, resamples: int = 500
) -> NDArray[np.float64]:
    """Pool the bins over tasks drawn with replacement: (resamples, 15, 3).

    The same seed draws the same tasks for every model, which keeps differences paired.
    """
    # How often each task is drawn in each resample, (resamples, tasks): all that pooling needs.
    draws = generator(seed, "bootstrap").multinomial(
        len(bins), np.full(len(bins), 1 / len(bins)), size=resamples
    )
    return np.tensordot(draws.astype(np.float64), bins, axes=1)


def resampled_errors(bins: NDArray[np.float64], seed: int) -> NDArray[np.float64]:
    """Return the calibration error of each bootstrap resample of the tasks: (resamples,)."""
    return np.array([expected_calibration_error(pooled) for pooled in resampled_bins(bins, seed)])


def percentile_interval(values: NDArray[np.float64]) -> list[float]:
    """Return the bounds between which the middle 95 % of the values lie."""
    low, high = np.quantile(values, [0.025, 0.975])
    return [float(low), float(high)]


@dataclass(frozen=True)
class CalibrationError:
    """The expected calibration error of all queries, with the bounds of its 95 % interval.

    One task has no interval: there is nothing to resample.
    """

    value: float
    ci95: list[float] | None

    @classmethod
    def of(cls, metrics: TaskMetrics, seed: int) -> "CalibrationError":
        """Pool all queries; the interval is from a bootstrap over tasks."""
        error = expected_calibration_error(metrics.bins.sum(0))
        if len(metrics.bins) < 2:
            return cls(error, None)
        return cls(error, percentile_interval(resampled_errors(metrics.bins, seed)))

    def to_json(self) -> dict[str, float | list[float] | None]:
        """Return the form that evaluation.json stores."""
        return asdict(self)


@dataclass(frozen=True)
class ReliabilityBin:
    """The queries in one bin of the top probability: their number, its mean, their accuracy."""

    queries: int
    confidence: float
    accuracy: float


def reliability(metrics: TaskMetrics) -> list[ReliabilityBin]:
    """Return the bins that have queries, pooled over all tasks, by rising top probability."""
    rows = []
    for queries, confidence, correct in metrics.bins.sum(0):
        if queries:
            row = ReliabilityBin(
                int(queries), float(confidence / queries), float(correct / queries)
            )
            rows.append(row)
    return rows


def reliability_gap(bins: Sequence[ReliabilityBin]) -> float:
    """Return the mean top probability minus the accuracy of all queries, from their pooled bins.

    >>> reliability_gap([ReliabilityBin(3, 0.5, 0.25), ReliabilityBin(1, 1.0, 1.0)])
    0.1875
    """
    queries = 0
    total = 0.0
    for row in bins:
        queries += row.queries
        total += row.queries * (row.confidence - row.accuracy)
    return total / max(1, queries)
