"""Quantiles of 1 - p at one shot, measured on tasks of held-out classes when a model is trained."""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import torch
from numpy.typing import NDArray

from samovar.data.collections import VectorCollection
from samovar.evaluation.rejection_thresholds import (
    MOST_QUERIES,
    MOST_QUERIES_PER_CLASS,
    MOST_TASKS,
    WAYS,
)
from samovar.evaluation.task_runner import TaskRunner
from samovar.models.closed_form import ClosedForm
from samovar.prediction.conformal import nonconformity
from samovar.prediction.predictive import Prediction
from samovar.prediction.regression import predict_regression
from samovar.prediction.rejection import RATES, ShapeThresholds
from samovar.prediction.sampling_noise import PredictiveNoise
from samovar.prediction.transferred_quantiles import SHOT, TransferredQuantiles
from samovar.settings.tasks import Protocol

SAMPLES = 128
"""Sampled classifiers of a prediction, as many as a user's images are answered by."""
REGRESSION_TASKS = 100
"""Tasks of each number of classes from each collection."""
MANY_WAYS = tuple(way for way in WAYS if way > 1)
"""A single class always has the probability one."""


def measure_quantiles(
    runner: TaskRunner, seed: int, tasks: int = MOST_TASKS
) -> TransferredQuantiles | None:
    """Measure quantiles for every number of classes that the data allows; None if for none."""
    tasks = min(tasks, MOST_TASKS)
    smallest_class = int(runner.dataset.counts.min())
    cells = []
    for way in MANY_WAYS:
        queries = min(MOST_QUERIES_PER_CLASS, MOST_QUERIES // way, smallest_class - SHOT)
        if len(runner.dataset) < way or queries < 1:
            continue
        protocol = Protocol(way, SHOT, queries, episodes=tasks, samples=SAMPLES, seed=seed)
        misfits = _misfits(runner, replace(protocol, quasi=True))
        quantiles = np.quantile(misfits, 1 - np.array(RATES))
        cells.append(ShapeThresholds(way, SHOT, tuple(quantiles.tolist())))
    if not cells:
        return None
    about = f"{tasks} tasks of each number of classes from {runner.dataset.description}"
    return TransferredQuantiles(about, tuple(cells))


@torch.no_grad()
def _misfits(runner: TaskRunner, protocol: Protocol) -> NDArray[np.float64]:
    misfits = []
    for tasks in runner.infer_tasks(protocol):
        # As a user's images are answered: calibrated where the model has a calibration.
        prediction = runner.predict_calibrated(tasks, protocol)
        if prediction is None:
            prediction = runner.predict_sampled(tasks, protocol)
        misfits.append(_misfit(prediction, tasks.labels))
    return np.concatenate(misfits)


def measure_regression_quantiles(
    model: ClosedForm,
    collections: Sequence[VectorCollection],
    seed: int,
    tasks: int = REGRESSION_TASKS,
) -> TransferredQuantiles | None:
    """Measure quantiles over tasks of each collection, and take the most cautious of them.

    Nothing tells which collection a task with one image of each class is like.
    """
    cells = []
    for way in MANY_WAYS:
        quantiles = []
        for collection in collections:
            if collection.allows(way, SHOT):
                misfits = _misfits_of_collection(model, collection, way, seed, tasks)
                quantiles.append(np.quantile(misfits, 1 - np.array(RATES)))
        if quantiles:
            largest = np.max(quantiles, axis=0)
            cells.append(ShapeThresholds(way, SHOT, tuple(largest.tolist())))
    if not cells:
        return None
    names = ", ".join(collection.name for collection in collections)
    about = f"the largest of {tasks} tasks of each number of classes from each of {names}"
    return TransferredQuantiles(about, tuple(cells))


@torch.no_grad()
def _misfits_of_collection(
    model: ClosedForm, collection: VectorCollection, way: int, seed: int, tasks: int
) -> NDArray[np.float64]:
    queries = min(MOST_QUERIES_PER_CLASS, MOST_QUERIES // way)
    misfits = []
    for number in range(tasks):
        key = (seed, f"transferred quantiles {way}", number)
        task = collection.task(way, SHOT, queries, key=key)
        regression = model.infer(task.support, task.support_labels, way)
        noise = PredictiveNoise(seed, [0], quasi=True)
        prediction = predict_regression(regression, regression.moments(task.query), SAMPLES, noise)
        misfits.append(_misfit(prediction, task.query_labels[None]))
    return np.concatenate(misfits)


def _misfit(prediction: Prediction, labels: torch.Tensor) -> NDArray[np.float64]:
    """Return how badly the true labels (T, Q) fit, in one row."""
    scores = nonconformity(prediction.probabilities.flatten(0, 1).cpu().double().numpy())
    return scores[np.arange(len(scores)), labels.flatten().cpu().numpy()]
