"""Thresholds for "none of these", measured on tasks of held-out classes.

For every shape of task that the data allows, the scores of queries that do belong to their task are
collected; the quantiles of those scores are the thresholds for given rates of false rejection.
"""

import numpy as np
import torch
from torch import Tensor

from samovar.data.episodes import EpisodeSampler
from samovar.evaluation.distributed import TASKS_AT_ONCE
from samovar.evaluation.task_runner import TaskRunner
from samovar.prediction.rejection import (
    COSINE_DISTANCE,
    RATES,
    Rejection,
    RejectionScore,
    ShapeThresholds,
)
from samovar.settings.tasks import EpisodeSettings

WAYS = (1, 2, 3, 5, 10, 20, 50)
SHOTS = (1, 2, 5, 10, 20)
"""The shapes that are measured, as far as the data allows; a user's task takes the nearest one."""
MOST_TASKS = 60
"""Tasks of each shape."""
MOST_QUERIES = 100
"""Queries of a task in all."""
MOST_QUERIES_PER_CLASS = 10


def measure_rejection(
    runner: TaskRunner,
    seed: int,
    tasks: int = MOST_TASKS,
    score: RejectionScore = COSINE_DISTANCE,
) -> Rejection | None:
    """Measure thresholds for every shape that the runner's data allows; None if it allows none."""
    tasks = min(tasks, MOST_TASKS)
    cells = []
    for way in WAYS:
        for shot in SHOTS:
            cell = _measure_shape(runner, _Shape(way, shot, runner), seed, tasks, score)
            if cell is not None:
                cells.append(cell)
    if not cells:
        return None
    about = f"{tasks} tasks of each shape from {runner.dataset.description}"
    return Rejection(about, tuple(cells), score)


class _Shape:
    """A shape of task, and the tasks that are drawn to measure it.

    A single class is measured on tasks of two, each query by its own class alone.
    """

    def __init__(self, way: int, shot: int, runner: TaskRunner) -> None:
        self.way = way
        self.shot = shot
        self.drawn_way = max(2, way)
        smallest_class = int(runner.dataset.counts.min())
        most_queries = min(MOST_QUERIES_PER_CLASS, MOST_QUERIES // self.drawn_way)
        self.queries = min(most_queries, smallest_class - shot)
        self.is_possible = len(runner.dataset) >= self.drawn_way and self.queries >= 1


@torch.no_grad()
def _measure_shape(
    runner: TaskRunner, shape: _Shape, seed: int, tasks: int, score: RejectionScore
) -> ShapeThresholds | None:
    if not shape.is_possible:
        return None
    settings = EpisodeSettings(shape.drawn_way, shape.shot, shape.queries)
    sampler = EpisodeSampler(runner.dataset, settings, seed)
    scores = []
    for first in range(0, tasks, TASKS_AT_ONCE):
        episodes = sampler.draw(first, min(TASKS_AT_ONCE, tasks - first))
        means = runner.class_means(episodes).means
        query = runner.features(episodes.query)
        if shape.way == 1:
            # Queries come class by class, so that they can be put beside their own class.
            means = means[:, :, None]
            query = query.unflatten(1, (shape.drawn_way, shape.queries))
        scores.append(score(query, means).flatten())
    thresholds = _quantiles(torch.cat(scores))
    return ShapeThresholds(shape.way, shape.shot, thresholds)


def _quantiles(scores: Tensor) -> tuple[float, ...]:
    quantiles = np.quantile(scores.cpu().double().numpy(), 1 - np.array(RATES))
    return tuple(float(quantile) for quantile in quantiles)
