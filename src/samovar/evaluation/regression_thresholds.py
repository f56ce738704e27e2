"""Thresholds for "none of these" of a regression, measured on vectors of several collections.

For every shape of task, as many tasks are drawn from each collection. The rejection scores of the
queries that belong to their task are collected, as they are and relative to the level of the
support's own left-out images; their quantiles are the thresholds for the asked rates.
"""

from collections.abc import Sequence

import numpy as np
import torch
from torch import Tensor

from samovar.data.collections import VectorCollection
from samovar.evaluation.rejection_thresholds import (
    MOST_QUERIES,
    MOST_QUERIES_PER_CLASS,
    SHOTS,
    WAYS,
)
from samovar.models.closed_form import ClosedForm
from samovar.prediction.regression import left_out_level, rejection_score
from samovar.prediction.regression_rejection import RegressionRejection, RegressionThresholds
from samovar.prediction.rejection import RATES

TASKS = 40
"""Tasks of each shape from each collection."""


def measure_regression_rejection(
    model: ClosedForm,
    collections: Sequence[VectorCollection],
    seed: int,
    tasks: int = TASKS,
) -> RegressionRejection | None:
    """Measure thresholds for every shape that the collections allow; None if they allow none.

    A collection that is too small for a shape is left aside there.
    """
    cells = []
    for way in WAYS:
        for shot in SHOTS:
            cell = _measure_shape(model, collections, (way, shot), seed, tasks)
            if cell is not None:
                cells.append(cell)
    if not cells:
        return None
    names = ", ".join(collection.name for collection in collections)
    about = f"{tasks} tasks of each shape from each of {names}"
    return RegressionRejection(about, tuple(cells))


@torch.no_grad()
def _measure_shape(
    model: ClosedForm,
    collections: Sequence[VectorCollection],
    shape: tuple[int, int],
    seed: int,
    tasks: int,
) -> RegressionThresholds | None:
    way, shot = shape
    queries = min(MOST_QUERIES_PER_CLASS, MOST_QUERIES // way)
    absolute = []
    relative = []
    for collection in collections:
        if not collection.allows(way, shot):
            continue
        scores = []
        for number in range(tasks):
            key = (seed, f"regression rejection {way} {shot}", number)
            task = collection.task(way, shot, queries, key=key)
            regression = model.infer(task.support, task.support_labels, way)
            belonging = rejection_score(regression.moments(task.query))
            scores.append(belonging)
            level = left_out_level(regression)
            if level is not None:
                relative.append(belonging - level)
        absolute.append(_quantiles(scores))
    if not absolute:
        return None
    quantiles = None
    if relative:
        quantiles = _quantiles(relative)
    # Without a level to compare with, nothing tells which collection a task is like. The most
    # cautious threshold rejects no more than the asked share on any of them.
    cautious = tuple(float(threshold) for threshold in np.max(absolute, axis=0))
    return RegressionThresholds(way, shot, cautious, quantiles)


def _quantiles(scores: list[Tensor]) -> tuple[float, ...]:
    quantiles = np.quantile(torch.cat(scores).numpy(), 1 - np.array(RATES))
    return tuple(float(quantile) for quantile in quantiles)
