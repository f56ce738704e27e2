"""Measure the closed form on collections it was not trained on, beside its rivals; prints JSON.

    python benchmarks/photos.py --vectors A.npz B.npz C.npz --out results/photos.json

Each file holds the vectors of one collection, as `samovar embed` writes them. In turn every
collection is left out: the closed form, and the temperatures of the rivals, are learned on the
others and measured on the one that was left out, on the same tasks for all. Collections given with
--test-only are measured by what all of --vectors taught. Rivals: scikit-learn's logistic regression
as it is, and with a temperature; nearest class mean by cosine, with a temperature; ridge regression
with a temperature; linear discriminant analysis; five nearest neighbours. A rival's temperature is
log-linear in shots and ways and maximises the likelihood on the training collections.

All that is learned is learned once for each training seed, on tasks of its own. Metrics are means
over the seeds; differences between the closed form and a rival are paired: both answered the same
tasks. Their standard errors are those of a mean over tasks, each task averaged over the seeds.
"""

import json
import math
import time
import warnings
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import torch
import tyro
from numpy.typing import NDArray
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.linear_model import RidgeClassifier
from sklearn.metrics import roc_auc_score
from sklearn.neighbors import KNeighborsClassifier
from torch.nn import functional

from samovar.core.files import write_whole
from samovar.data.collections import VectorCollection, VectorTask
from samovar.evaluation.metrics import (
    TaskMetrics,
    calibration_errors,
    calibration_gaps,
    expected_calibration_error,
)
from samovar.evaluation.outcomes import Outcomes
from samovar.evaluation.predictors import Predictor
from samovar.evaluation.rivals import LOGITS, TaskFeatures
from samovar.models.closed_form import ClosedForm
from samovar.prediction.predictive import Prediction, entropy_of
from samovar.prediction.regression import rejection_score
from samovar.training.closed_form import ClosedFormSettings, draw_task, train_closed_form

Array = NDArray[np.float64]
Labels = NDArray[np.int64]
Scores = Callable[[torch.Tensor], Array]
"""From query vectors (Q, d) to logits, or log-probabilities (Q, N)."""
Fit = Callable[[VectorTask], Scores]
TEMPERED = ("logistic regression, temperature", "cosine, temperature", "ridge, temperature")
OURS = "closed form"
CALIBRATION_TASKS = 200


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
    seeds: tuple[int, ...] = (0, 1, 2)
    """Training seeds."""
    out: Path | None = None


@dataclass
class Tally:
    """What one method, trained with one seed, answered over many tasks of one shape."""

    tasks: list[TaskMetrics] = field(default_factory=list)
    auroc: list[float] = field(default_factory=list)
    fit_seconds: float = 0.0
    predict_seconds: float = 0.0

    def add(self, probabilities: Array, labels: Labels) -> None:
        """Add the answers (Q, N) to a task, whose labels are (Q,)."""
        answers = torch.from_numpy(probabilities)[None]
        prediction = Prediction(answers, entropy_of(answers))
        self.tasks.append(TaskMetrics.of(Outcomes.of(prediction, torch.from_numpy(labels)[None])))

    def per_task(self, metric: str) -> Array:
        """Return a metric of every task, (tasks,)."""
        return np.concatenate([getattr(task, metric) for task in self.tasks])

    def metrics(self) -> dict[str, float]:
        """Return the metrics over all queries."""
        bins = self.per_task("bins")
        pooled = bins.sum(0)
        metrics = {
            "accuracy": float(self.per_task("accuracy").mean()),
            "nll": float(self.per_task("nll").mean()),
            "brier": float(self.per_task("brier").mean()),
            "ece_pooled": expected_calibration_error(pooled),
            "gap": float(calibration_gaps(pooled)),
            "ece_per_task": float(calibration_errors(bins).mean()),
            "milliseconds_to_fit": 1000 * self.fit_seconds / len(self.tasks),
            "milliseconds_to_predict": 1000 * self.predict_seconds / len(self.tasks),
        }
        if self.auroc:
            metrics["outside_auroc"] = float(np.mean(self.auroc))
        return metrics


def unit(vectors: torch.Tensor) -> Array:
    """Return vectors of length 1 as an array."""
    return functional.normalize(vectors.double(), dim=-1).numpy()


def of_package(rival: Predictor) -> Fit:
    """Return a rival of the package; it is fitted when it answers, which counts as predicting."""

    def fit(task: VectorTask) -> Scores:
        def scores(query: torch.Tensor) -> Array:
            features = TaskFeatures.of(
                task.support[None], task.support_labels[None], query[None], task.way
            )
            return LOGITS[rival](features)[0].numpy()

        return scores

    return fit


cosine = of_package(Predictor.NEAREST_CENTROID)
logistic = of_package(Predictor.LOGISTIC_REGRESSION)


def ridge(task: VectorTask) -> Scores:
    """Return ten times the scores of ridge regression."""
    model = RidgeClassifier(alpha=0.5).fit(unit(task.support), task.support_labels.numpy())

    def scores(query: torch.Tensor) -> Array:
        decision = model.decision_function(unit(query))
        if task.way == 2:
            decision = np.stack([-decision, decision], 1)
        return 10 * decision

    return scores


def discriminant(task: VectorTask) -> Scores:
    """Return log-probabilities of linear discriminant analysis."""
    if task.way == len(task.support_labels):  # one image a class has no variance within it
        return cosine(task)
    model = LinearDiscriminantAnalysis().fit(unit(task.support), task.support_labels.numpy())
    return lambda query: np.log(np.maximum(model.predict_proba(unit(query)), 1e-12))


def neighbours(task: VectorTask) -> Scores:
    """Return log-probabilities of the five nearest neighbours, weighted by distance."""
    count = min(5, len(task.support_labels))
    model = KNeighborsClassifier(count, weights="distance")
    model.fit(unit(task.support), task.support_labels.numpy())
    return lambda query: np.log(np.maximum(model.predict_proba(unit(query)), 1e-3))


RIVALS: dict[str, Fit] = {
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


def fit_temperature(fit: Fit, tasks: list[VectorTask]) -> torch.Tensor:
    """Learn log t = a + b log shots + c log(ways / 5) on tasks of the training collections."""
    logits = [torch.from_numpy(np.ascontiguousarray(fit(task)(task.query))) for task in tasks]
    coefficients = torch.zeros(3, dtype=torch.float64, requires_grad=True)
    optimizer = torch.optim.Adam([coefficients], 0.05)
    for _ in range(150):
        loss = torch.zeros((), dtype=torch.float64)
        for task, task_logits in zip(tasks, logits, strict=True):
            log_t = coefficients @ torch.tensor(log_features(task), dtype=torch.float64)
            loss_of_task = functional.cross_entropy(
                task_logits * torch.exp(-log_t), task.query_labels
            )
            loss = loss + loss_of_task / math.log(task.way)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    return coefficients.detach()


@dataclass(frozen=True)
class Learned:
    """What was learned on some collections with one seed."""

    model: ClosedForm
    temperatures: dict[str, torch.Tensor]

    @classmethod
    def on(cls, collections: list[VectorCollection], updates: int, seed: int) -> "Learned":
        """Train the closed form, and fit the rivals' temperatures, on the same collections."""
        model = train_closed_form(collections, ClosedFormSettings(updates=updates, seed=seed))
        settings = ClosedFormSettings(seed=1000 + seed)
        tasks = [draw_task(collections, settings, number) for number in range(CALIBRATION_TASKS)]
        temperatures = {name: fit_temperature(RIVALS[name], tasks) for name in TEMPERED}
        return cls(model, temperatures)


Tallies = dict[str, list[Tally]]
"""For each method, one tally for each seed."""


def measure(
    collection: VectorCollection, shape: tuple[int, int], arguments: Arguments, seeds: list[Learned]
) -> Tallies:
    """Answer tasks of one shape by every method."""
    way, shot = shape
    tallies: Tallies = {}
    for name in (OURS, *RIVALS):
        tallies[name] = [Tally() for _ in seeds]
    for number in range(arguments.tasks):
        key = (7, "photos benchmark", number)
        task = collection.task(way, shot, arguments.queries, key=key)
        for tally, learned in zip(tallies[OURS], seeds, strict=True):
            add_closed_form(tally, learned.model, task)
        for fit in dict.fromkeys(RIVALS.values()):
            add_rival(fit, tallies, seeds, task)
    return tallies


@torch.no_grad()
def add_closed_form(tally: Tally, model: ClosedForm, task: VectorTask) -> None:
    """Answer a task by the closed form, and score queries of no class."""
    start = time.perf_counter()
    regression = model.infer(task.support, task.support_labels, task.way)
    _ = regression.temperature_weights  # computed once, for all queries
    fitted = time.perf_counter()
    probabilities = regression.probabilities(task.query)
    tally.fit_seconds += fitted - start
    tally.predict_seconds += time.perf_counter() - fitted
    tally.add(probabilities.numpy(), task.query_labels.numpy())
    if len(task.outside):
        score = rejection_score(regression.moments(torch.cat([task.query, task.outside])))
        outside = np.arange(len(score)) >= len(task.query)
        tally.auroc.append(float(roc_auc_score(outside, score.numpy())))


def add_rival(fit: Fit, tallies: Tallies, seeds: list[Learned], task: VectorTask) -> None:
    """Answer a task by a rival; it is fitted once, and tempered by what each seed taught."""
    start = time.perf_counter()
    scores = fit(task)
    fitted = time.perf_counter()
    logits = torch.from_numpy(np.ascontiguousarray(scores(task.query)))
    answered = time.perf_counter()
    features = torch.tensor(log_features(task), dtype=torch.float64)
    for name in [name for name, rival in RIVALS.items() if rival is fit]:
        for tally, learned in zip(tallies[name], seeds, strict=True):
            tempered = logits
            if name in learned.temperatures:
                tempered = logits * torch.exp(-(learned.temperatures[name] @ features))
            tally.fit_seconds += fitted - start
            tally.predict_seconds += answered - fitted
            tally.add(tempered.softmax(1).numpy(), task.query_labels.numpy())


def means_over_seeds(tallies: list[Tally]) -> dict[str, float]:
    """Return the mean of each metric over the seeds."""
    rows = [tally.metrics() for tally in tallies]
    return {name: round(float(np.mean([row[name] for row in rows])), 5) for name in rows[0]}


def paired(ours: list[Tally], rival: list[Tally]) -> dict[str, list[float]]:
    """Return closed form minus rival, with its standard error, for accuracy and NLL."""
    differences = {}
    for name in ("accuracy", "nll"):
        by_seed = [
            mine.per_task(name) - theirs.per_task(name)
            for mine, theirs in zip(ours, rival, strict=True)
        ]
        by_task = np.mean(by_seed, axis=0)
        error = by_task.std(ddof=1) / math.sqrt(len(by_task))
        differences[name] = [round(float(by_task.mean()), 5), round(float(error), 5)]
    return differences


def summary(tallies: Tallies) -> dict[str, Any]:
    """Return what is stored of one shape of task."""
    methods: dict[str, Any] = {}
    for name, by_seed in tallies.items():
        methods[name] = means_over_seeds(by_seed)
        methods[name]["nll_by_seed"] = [round(tally.metrics()["nll"], 5) for tally in by_seed]
        if name != OURS:
            methods[name]["closed_form_minus_this"] = paired(tallies[OURS], by_seed)
    return methods


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
    # scikit-learn asks whether one image a class is a regression.
    warnings.filterwarnings("ignore", message="The number of unique classes is greater than 50%")
    trained_on = [VectorCollection.read(path) for path in arguments.vectors]
    test_only = [VectorCollection.read(path) for path in arguments.test_only]
    results = []
    taught: dict[tuple[str, ...], list[Learned]] = {}
    for collection in (*trained_on, *test_only):
        others = unrelated(collection, trained_on, arguments.same_source)
        names = tuple(other.name for other in others)
        if names not in taught:
            taught[names] = [
                Learned.on(others, arguments.updates, seed) for seed in arguments.seeds
            ]
        for way, shot in shapes_of(collection, arguments):
            methods = summary(measure(collection, (way, shot), arguments, taught[names]))
            row = {"collection": collection.name, "way": way, "shot": shot, "methods": methods}
            results.append(row)
            print(json.dumps(row), flush=True)
    if arguments.out is not None:
        content = {
            "format": 2,
            "tasks": arguments.tasks,
            "seeds": list(arguments.seeds),
            "results": results,
        }
        write_whole(arguments.out, json.dumps(content, indent=1).encode())


if __name__ == "__main__":
    main()
