"""Measure the closed form on collections it was not trained on, beside its rivals; prints JSON.

    python benchmarks/photos.py --vectors A.npz B.npz C.npz --out results/photos.json

Each file holds the vectors of one collection, as `samovar embed` writes them. In turn every
collection is left out: the closed form, and the temperatures of the rivals, are learned on the
others and measured on the one that was left out, on the same tasks for all. Collections given with
--test-only are measured by what all of --vectors taught. Rivals: scikit-learn's logistic regression
as it is, and with a temperature; nearest class mean by cosine, with a temperature; ridge regression
with a temperature; linear discriminant analysis; five nearest neighbours. A rival's temperature is
log-linear in shots and ways and minimises the likelihood on the training collections.
"""

import json
import math
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import torch
import tyro
from numpy.typing import NDArray
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.linear_model import LogisticRegression, RidgeClassifier
from sklearn.metrics import roc_auc_score
from sklearn.neighbors import KNeighborsClassifier
from torch.nn import functional

from samovar.core.files import write_whole
from samovar.data.collections import VectorCollection, VectorTask
from samovar.models.closed_form import ClosedForm
from samovar.training.closed_form import ClosedFormSettings, draw_task, train_closed_form

Array = NDArray[np.float64]
Scores = Callable[[VectorTask], Array]
"""From a task to logits, or log-probabilities, of its queries (Q, N)."""
TEMPERED = ("logistic regression, temperature", "cosine, temperature", "ridge, temperature")
CALIBRATION_TASKS = 200
BINS = 15


@dataclass(frozen=True)
class Arguments:
    """What to measure."""

    vectors: tuple[Path, ...]
    """Files of vectors; each collection is left out in turn."""
    test_only: tuple[Path, ...] = ()
    """Further files that are measured but never trained on."""
    same_source: tuple[str, ...] = ()
    """Names of collections that share images: when one of them is measured, none is trained on."""
    tasks: int = 200
    ways: tuple[int, ...] = (5, 20)
    shots: tuple[int, ...] = (1, 2, 5, 10)
    queries: int = 10
    updates: int = 500
    out: Path | None = None


@dataclass
class Tally:
    """What one method answered over many tasks of one shape."""

    probabilities: list[Array] = field(default_factory=list)
    labels: list[NDArray[np.int64]] = field(default_factory=list)
    auroc: list[float] = field(default_factory=list)
    seconds: float = 0.0

    def metrics(self) -> dict[str, float]:
        """Return the metrics over all queries."""
        probabilities = np.concatenate(self.probabilities)
        labels = np.concatenate(self.labels)
        at_label = probabilities[np.arange(len(labels)), labels]
        truth = np.eye(probabilities.shape[1])[labels]
        per_task = [
            calibration_error(task, truth_of_task)
            for task, truth_of_task in zip(self.probabilities, self.labels, strict=True)
        ]
        metrics = {
            "accuracy": float((probabilities.argmax(1) == labels).mean()),
            "nll": float(-np.log(np.maximum(at_label, 1e-12)).mean()),
            "brier": float(np.square(probabilities - truth).sum(1).mean()),
            "ece_pooled": calibration_error(probabilities, labels),
            "ece_per_task": float(np.mean(per_task)),
            "milliseconds_per_task": 1000 * self.seconds / len(self.labels),
        }
        if self.auroc:
            metrics["outside_auroc"] = float(np.mean(self.auroc))
        return {name: round(value, 5) for name, value in metrics.items()}


def calibration_error(probabilities: Array, labels: NDArray[np.int64]) -> float:
    """Return the expected calibration error of the top probability, in 15 bins."""
    top = probabilities.max(1)
    right = probabilities.argmax(1) == labels
    bins = np.clip(np.ceil(top * BINS).astype(int) - 1, 0, BINS - 1)
    gaps = np.bincount(bins, right - top, BINS)
    return float(np.abs(gaps).sum() / len(labels))


def unit(vectors: torch.Tensor) -> Array:
    """Return vectors of length 1 as an array."""
    return functional.normalize(vectors.double(), dim=-1).numpy()


def cosine(task: VectorTask) -> Array:
    """Return ten times the cosine to each class mean."""
    support, labels = unit(task.support), task.support_labels.numpy()
    means = np.stack([support[labels == label].mean(0) for label in range(task.way)])
    means /= np.linalg.norm(means, axis=1, keepdims=True)
    return 10 * unit(task.query) @ means.T


def logistic(task: VectorTask) -> Array:
    """Return log-probabilities of scikit-learn's logistic regression, as it comes."""
    model = LogisticRegression(max_iter=200)
    model.fit(8 * unit(task.support), task.support_labels.numpy())
    return model.predict_log_proba(8 * unit(task.query))


def ridge(task: VectorTask) -> Array:
    """Return ten times the scores of ridge regression."""
    model = RidgeClassifier(alpha=0.5).fit(unit(task.support), task.support_labels.numpy())
    scores = model.decision_function(unit(task.query))
    if task.way == 2:
        scores = np.stack([-scores, scores], 1)
    return 10 * scores


def discriminant(task: VectorTask) -> Array:
    """Return log-probabilities of linear discriminant analysis."""
    if task.way == len(task.support_labels):  # one image a class has no variance within it
        return cosine(task)
    model = LinearDiscriminantAnalysis().fit(unit(task.support), task.support_labels.numpy())
    return np.log(np.maximum(model.predict_proba(unit(task.query)), 1e-12))


def neighbours(task: VectorTask) -> Array:
    """Return log-probabilities of the five nearest neighbours, weighted by distance."""
    count = min(5, len(task.support_labels))
    model = KNeighborsClassifier(count, weights="distance")
    model.fit(unit(task.support), task.support_labels.numpy())
    return np.log(np.maximum(model.predict_proba(unit(task.query)), 1e-3))


RIVALS: dict[str, Scores] = {
    "logistic regression": logistic,
    "logistic regression, temperature": logistic,
    "cosine, temperature": cosine,
    "ridge, temperature": ridge,
    "discriminant analysis": discriminant,
    "nearest neighbours": neighbours,
}


def log_features(task: VectorTask) -> list[float]:
    """Return what a temperature depends on: 1, log shots, log(ways / 5)."""
    shots = len(task.support_labels) / task.way
    return [1.0, math.log(shots), math.log(task.way / 5)]


def fit_temperature(scores: Scores, tasks: list[VectorTask]) -> torch.Tensor:
    """Learn log t = a + b log shots + c log(ways / 5) on tasks of the training collections."""
    logits = [torch.from_numpy(np.ascontiguousarray(scores(task))) for task in tasks]
    coefficients = torch.zeros(3, dtype=torch.float64, requires_grad=True)
    optimizer = torch.optim.Adam([coefficients], 0.05)
    for _ in range(150):
        loss = torch.zeros((), dtype=torch.float64)
        for task, task_logits in zip(tasks, logits, strict=True):
            log_t = coefficients @ torch.tensor(log_features(task), dtype=torch.float64)
            nll = functional.cross_entropy(task_logits * torch.exp(-log_t), task.query_labels)
            loss = loss + nll / math.log(task.way)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    return coefficients.detach()


def learned(collections: list[VectorCollection], updates: int) -> tuple[ClosedForm, dict[str, Any]]:
    """Train the closed form, and fit the rivals' temperatures, on the same collections."""
    settings = ClosedFormSettings(updates=updates)
    model = train_closed_form(collections, settings)
    tasks = []
    for number in range(CALIBRATION_TASKS):
        tasks.append(draw_task(collections, ClosedFormSettings(seed=1), number))
    temperatures = {name: fit_temperature(RIVALS[name], tasks) for name in TEMPERED}
    return model, temperatures


def measure(
    collection: VectorCollection,
    shape: tuple[int, int],
    arguments: Arguments,
    model: ClosedForm,
    temperatures: dict[str, torch.Tensor],
) -> dict[str, dict[str, float]]:
    """Return the metrics of every method on tasks of one shape."""
    way, shot = shape
    tallies = {name: Tally() for name in ("closed form", *RIVALS)}
    for number in range(arguments.tasks):
        key = (7, "photos benchmark", number)
        task = collection.task(way, shot, arguments.queries, key=key)
        add_closed_form(tallies["closed form"], model, task)
        for name, scores in RIVALS.items():
            add_rival(tallies[name], scores, temperatures.get(name), task)
    return {name: tally.metrics() for name, tally in tallies.items()}


@torch.no_grad()
def add_closed_form(tally: Tally, model: ClosedForm, task: VectorTask) -> None:
    """Answer a task by the closed form, and score queries of no class."""
    start = time.perf_counter()
    regression = model.infer(task.support, task.support_labels, task.way)
    probabilities = regression.probabilities(task.query)
    tally.seconds += time.perf_counter() - start
    tally.probabilities.append(probabilities.numpy())
    tally.labels.append(task.query_labels.numpy())
    if len(task.outside):
        logits = regression.logits(torch.cat([task.query, task.outside]))
        # How little a query is explained by the support, less how well its best class fits.
        best = (logits.mean / model.log_scale(regression.shape).exp()).amax(1)
        score = logits.stddev[:, 0].log() * 2 - 2 * best
        outside = np.arange(len(score)) >= len(task.query)
        tally.auroc.append(float(roc_auc_score(outside, score.numpy())))


def add_rival(
    tally: Tally, scores: Scores, temperature: torch.Tensor | None, task: VectorTask
) -> None:
    """Answer a task by a rival."""
    start = time.perf_counter()
    logits = torch.from_numpy(np.ascontiguousarray(scores(task)))
    if temperature is not None:
        features = torch.tensor(log_features(task), dtype=torch.float64)
        logits = logits * torch.exp(-(temperature @ features))
    probabilities = logits.softmax(1).numpy()
    tally.seconds += time.perf_counter() - start
    tally.probabilities.append(probabilities)
    tally.labels.append(task.query_labels.numpy())


def shapes_of(collection: VectorCollection, arguments: Arguments) -> list[tuple[int, int]]:
    """Return the shapes of task that a collection allows."""
    shapes = []
    for way in arguments.ways:
        for shot in arguments.shots:
            usable = [images for images in collection.classes if len(images) > shot]
            if len(usable) >= way:
                shapes.append((way, shot))
    return shapes


def unrelated(
    collection: VectorCollection, trained_on: list[VectorCollection], same_source: tuple[str, ...]
) -> list[VectorCollection]:
    """Return the training collections that share no images with the one that is measured."""
    left_out = {collection.name}
    if collection.name in same_source:
        left_out |= set(same_source)
    return [other for other in trained_on if other.name not in left_out]


def main() -> None:
    """Leave out each collection in turn, and print what was measured."""
    arguments = tyro.cli(Arguments, description=__doc__)
    trained_on = [VectorCollection.read(path) for path in arguments.vectors]
    test_only = [VectorCollection.read(path) for path in arguments.test_only]
    results = []
    for collection in (*trained_on, *test_only):
        others = unrelated(collection, trained_on, arguments.same_source)
        model, temperatures = learned(others, arguments.updates)
        for way, shot in shapes_of(collection, arguments):
            metrics = measure(collection, (way, shot), arguments, model, temperatures)
            row = {"collection": collection.name, "way": way, "shot": shot, "methods": metrics}
            results.append(row)
            print(json.dumps(row), flush=True)
    if arguments.out is not None:
        content = {"format": 1, "tasks": arguments.tasks, "results": results}
        write_whole(arguments.out, json.dumps(content, indent=1).encode())


if __name__ == "__main__":
    main()
