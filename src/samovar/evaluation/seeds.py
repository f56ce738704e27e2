"""Two methods compared over their training seeds.

The interval over tasks tells two trained models apart. Whether one method is better than another
needs several models of each, trained with different seeds: their means are compared by Welch's t.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy import stats

from samovar.evaluation.metrics import Estimate


@dataclass(frozen=True)
class SeedMeans:
    """A metric of every training seed of one method, with mean and standard deviation."""

    means: list[float]
    mean: float
    std: float | None

    @classmethod
    def of(cls, means: Sequence[float]) -> "SeedMeans":
        """Summarise a metric of each training seed; a single one has no deviation."""
        deviation = None
        if len(means) > 1:
            deviation = float(np.std(means, ddof=1))
        return cls(list(means), float(np.mean(means)), deviation)

    @property
    def ci95(self) -> float | None:
        """The half-width of the 95 % interval of the mean over seeds, by Student's t."""
        if self.std is None:
            return None
        seeds = len(self.means)
        return float(stats.t.ppf(0.975, seeds - 1) * self.std / np.sqrt(seeds))


@dataclass(frozen=True)
class WelchDifference(Estimate):
    """The difference of two methods over training seeds, with its 95 % interval by Welch's t."""

    degrees_of_freedom: float


@dataclass(frozen=True)
class SeedComparison:
    """A metric over the training seeds of both methods; a difference needs two of each."""

    first: SeedMeans
    second: SeedMeans
    difference: WelchDifference | None


def compare_seeds(first: list[float], second: list[float]) -> SeedComparison:
    """Compare a metric of every training seed of two methods.

    >>> round(compare_seeds([0.7, 0.8], [0.5, 0.6]).difference.mean, 3)
    0.2
    """
    return SeedComparison(SeedMeans.of(first), SeedMeans.of(second), _welch(first, second))


def _welch(first: list[float], second: list[float]) -> WelchDifference | None:
    """Return Welch's interval; None for single seeds, and where no seed differs from another."""
    if len(first) < 2 or len(second) < 2:
        return None
    # The variances of the two means; the methods may vary differently over seeds.
    first_variance = np.var(first, ddof=1) / len(first)
    second_variance = np.var(second, ddof=1) / len(second)
    total = first_variance + second_variance
    if total == 0:
        return None  # Welch's degrees of freedom would be 0 / 0
    # Degrees of freedom by the equation of Welch and Satterthwaite.
    parts = first_variance**2 / (len(first) - 1) + second_variance**2 / (len(second) - 1)
    freedom = total**2 / parts
    return WelchDifference(
        mean=float(np.mean(first) - np.mean(second)),
        ci95=float(stats.t.ppf(0.975, freedom) * np.sqrt(total)),
        degrees_of_freedom=float(freedom),
    )
