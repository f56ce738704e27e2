"""Figures of predicted probabilities: NLL, Brier score, expected calibration error with its interval."""

from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from samovar.noise import generator

BINS = 15


@dataclass(frozen=True)
class TaskFigures:
    """One row for each task: mean accuracy, NLL and Brier score of its queries, and what calibration needs.

    bins: (tasks, 15, 3): for each of 15 equal bins of the top probability, the number of queries, the sum of their top
    probabilities and the number of right answers.
    """

    accuracy: NDArray[np.float64]
    nll: NDArray[np.float64]
    brier: NDArray[np.float64]
    bins: NDArray[np.float64]

    @classmethod
    def of(cls, probabilities: Tensor, labels: Tensor) -> "TaskFigures":
        """From probabilities (T, Q, N) and labels (T, Q)."""
        p = probabilities.double()
        top, answer = p.max(-1)
        right = (answer == labels).double()
        at_label = p.gather(-1, labels[..., None]).squeeze(-1)
        brier = p.square().sum(-1) - 2 * at_label + 1
        position = (top * BINS).ceil().long().sub(1).clamp(0, BINS - 1)  # bins are (lower, upper], as is the custom
        members = torch.nn.functional.one_hot(position, BINS).double()
        sums = [(members * each[..., None]).sum(1) for each in (torch.ones_like(top), top, right)]
        nll = -at_label.clamp(min=torch.finfo(torch.float32).tiny).log()
        rows = (right.mean(1), nll.mean(1), brier.mean(1), torch.stack(sums, -1))
        return cls(*(row.cpu().numpy() for row in rows))

    @classmethod
    def joined(cls, parts: list["TaskFigures"]) -> "TaskFigures":
        """All tasks of several parts."""
        names = ("accuracy", "nll", "brier", "bins")
        return cls(*(np.concatenate([getattr(part, name) for part in parts]) for name in names))


def mean_with_interval(values: NDArray[np.float64]) -> dict[str, float]:
    """Mean over tasks and the half-width of its 95 % interval, 1.96 std / sqrt(tasks)."""
    spread = values.std(ddof=1) if len(values) > 1 else 0.0
    return {"mean": float(values.mean()), "ci95": float(1.96 * spread / np.sqrt(len(values)))}


def expected_calibration_error(bins: NDArray[np.float64]) -> float:
    """sum over bins of |right answers - sum of top probabilities| / queries; bins (15, 3) pooled over all queries."""
    return float(np.abs(bins[:, 2] - bins[:, 1]).sum() / max(1.0, bins[:, 0].sum()))


def calibration(figures: TaskFigures, seed: int, resamples: int = 500) -> dict[str, float | list[float]]:
    """The pooled error with a 95 % interval by bootstrap over tasks (averages per task would be biased)."""
    draws = generator(seed, "bootstrap").multinomial(
        len(figures.bins), np.full(len(figures.bins), 1 / len(figures.bins)), size=resamples
    )
    pooled = np.tensordot(draws.astype(np.float64), figures.bins, axes=1)
    errors = [expected_calibration_error(each) for each in pooled]
    low, high = np.quantile(errors, [0.025, 0.975])
    return {"value": expected_calibration_error(figures.bins.sum(0)), "ci95": [float(low), float(high)]}
