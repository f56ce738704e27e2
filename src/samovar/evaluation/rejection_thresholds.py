"""Thresholds for "none of these", measured on tasks of held-out classes."""

import numpy as np
import torch

from samovar.data.episodes import EpisodeSampler
from samovar.evaluation.task_runner import TaskRunner
from samovar.prediction.rejection import RATES, Cell, Rejection, cosine_distance
from samovar.prediction.sampling_noise import BANK
from samovar.settings.tasks import EpisodeSettings

WAYS, SHOTS = (1, 2, 3, 5, 10, 20, 50), (1, 2, 5, 10, 20)
MOST_TASKS = 60
MOST_QUERIES = 100
"""Queries of a task, at most ten of each class."""


@torch.no_grad()
def measure_rejection(
    evaluator: TaskRunner, seed: int, tasks: int = MOST_TASKS
) -> Rejection | None:
    """Thresholds for every shape that the evaluator's data allows; None if it allows none."""
    tasks = min(tasks, MOST_TASKS)
    cells = [_measure(evaluator, way, shot, seed, tasks) for way in WAYS for shot in SHOTS]
    found = tuple(cell for cell in cells if cell is not None)
    return (
        Rejection(f"{tasks} tasks of each shape from {evaluator.dataset.description}", found)
        if found
        else None
    )


def _measure(evaluator: TaskRunner, way: int, shot: int, seed: int, tasks: int) -> Cell | None:
    drawn = max(2, way)  # one class is measured on tasks of two, each query by its own class alone
    queries = min(10, MOST_QUERIES // drawn, int(evaluator.dataset.counts.min()) - shot)
    if len(evaluator.dataset) < drawn or queries < 1:
        return None
    sampler = EpisodeSampler(evaluator.dataset, EpisodeSettings(drawn, shot, queries), seed)
    scores = []
    for first in range(0, tasks, BANK):
        episodes = sampler.draw(first, min(BANK, tasks - first))
        means, query = evaluator.class_means(episodes), evaluator.features(episodes.query)
        if way == 1:
            means, query = means[:, :, None], query.unflatten(1, (drawn, queries))
        scores.append(cosine_distance(query, means).flatten())
    quantiles = np.quantile(torch.cat(scores).cpu().double().numpy(), 1 - np.array(RATES))
    return Cell(way, shot, tuple(float(each) for each in quantiles))
