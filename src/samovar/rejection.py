"""When to answer "none of these": thresholds on uncertainty, from tasks of held-out classes."""

import dataclasses
import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from samovar.config import EpisodeSettings
from samovar.data.episodes import EpisodeSampler
from samovar.errors import SettingsError
from samovar.predictive import Prediction
from samovar.predictive_noise import BANK
from samovar.task_evaluator import TaskEvaluator

RATES = (0.5, 0.4, 0.3, 0.2, 0.15, 0.1, 0.07, 0.05, 0.03, 0.02, 0.01, 0.005)
"""False-rejection rates whose thresholds are stored; others lie between them."""
WAYS, SHOTS = (2, 3, 5, 10, 20, 50), (1, 2, 5, 10, 20)
MOST_TASKS, SAMPLES = 60, 128
MOST_QUERIES = 100
"""Queries of a task, at most ten of each class."""
MOST_CONDITIONED = 50
"""Support images of the largest task that is measured where the support is embedded anew for each."""


def doubt(prediction: Prediction) -> Tensor:
    """The score that is compared with a threshold: entropy as a share of log N, from 0 to 1; (T, Q)."""
    return prediction.entropy / math.log(max(2, prediction.probabilities.shape[-1]))


def check_rate(rate: Any) -> None:
    """Refuse a rate for which there are no thresholds."""
    if isinstance(rate, bool) or not isinstance(rate, int | float | np.number) or not min(RATES) <= rate <= max(RATES):
        raise SettingsError(f"reject must be from {min(RATES)} to {max(RATES)}, but is {rate!r}.")


@dataclass(frozen=True)
class Cell:
    """Thresholds for tasks of one shape, in the order of RATES."""

    way: int
    shot: int
    thresholds: tuple[float, ...]


@dataclass(frozen=True)
class Rejection:
    """Quantiles of the doubt about queries that do belong to their task, over ways and shots."""

    about: str
    """The tasks that they come from."""
    cells: tuple[Cell, ...]

    def threshold(self, way: int, shots: NDArray[np.integer[Any]], rate: float) -> tuple[float, Cell]:
        """The doubt above which a query is rejected, from the measured shape that is nearest (in ratios).

        `rate` is the share of queries of the task's own classes that are rejected, on tasks like the measured ones.
        """
        check_rate(rate)
        shot = float(np.median(shots))
        cell = min(self.cells, key=lambda c: abs(math.log(c.way / way)) + abs(math.log(c.shot / shot)))
        order = np.log(RATES[::-1])
        return float(np.interp(math.log(rate), order, cell.thresholds[::-1])), cell

    @classmethod
    def from_dict(cls, stored: dict[str, Any]) -> "Rejection":
        """From the JSON form of `dataclasses.asdict`."""
        cells = tuple(Cell(int(c["way"]), int(c["shot"]), tuple(map(float, c["thresholds"]))) for c in stored["cells"])
        whole = all(
            cell.way > 0 and cell.shot > 0 and len(cell.thresholds) == len(RATES) and np.isfinite(cell.thresholds).all()
            for cell in cells
        )
        if not cells or not whole:
            raise ValueError("the rejection thresholds are not whole")
        return cls(str(stored["about"]), cells)

    def to_dict(self) -> dict[str, Any]:
        """As JSON holds it."""
        return dataclasses.asdict(self)


@torch.no_grad()
def measure_rejection(evaluator: TaskEvaluator, seed: int, tasks: int = MOST_TASKS) -> Rejection | None:
    """Thresholds for every shape that the evaluator's data allows; None if it allows none."""
    tasks = min(tasks, MOST_TASKS)
    # With TEN the support of every task is embedded again
    most = MOST_CONDITIONED if evaluator.model.task_embedding is not None else max(WAYS) * max(SHOTS)
    shapes = [(way, shot) for way in WAYS for shot in SHOTS if way * shot <= most]
    cells = [_measure(evaluator, way, shot, seed, tasks) for way, shot in shapes]
    found = tuple(cell for cell in cells if cell is not None)
    return Rejection(f"{tasks} tasks of each shape from {evaluator.dataset.description}", found) if found else None


def _measure(evaluator: TaskEvaluator, way: int, shot: int, seed: int, tasks: int) -> Cell | None:
    if len(evaluator.dataset) < way:
        return None
    queries = min(10, MOST_QUERIES // way, int(evaluator.dataset.counts.min()) - shot)
    if queries < 1:
        return None
    sampler = EpisodeSampler(evaluator.dataset, EpisodeSettings(way, shot, queries), seed)
    scores = [
        doubt(
            evaluator.answer(sampler.draw(first, min(BANK, tasks - first)), first, SAMPLES, seed, quasi=True)
        ).flatten()
        for first in range(0, tasks, BANK)
    ]
    quantiles = np.quantile(torch.cat(scores).cpu().double().numpy(), 1 - np.array(RATES))
    return Cell(way, shot, tuple(float(each) for each in quantiles))


def describe(cell: Cell, about: str, rate: float, ways: int, shots: Sequence[int] | NDArray[np.integer[Any]]) -> str:
    """What a rate means, in a sentence."""
    text = f"{rate:.1%} of the queries that do belong are rejected on tasks like the measured ones ({about}"
    shape = f"{cell.way}-way {cell.shot}-shot"
    exact = cell.way == ways and float(np.median(shots)) == cell.shot
    return f"{text}; {shape}{'' if exact else ', the nearest measured shape'})"
