"""Measure how many labels `samovar next` saves, beside chance and other rules; prints JSON.

    python benchmarks/next.py --vectors A.npz B.npz C.npz --out results/next.json

Each file holds the vectors of one collection, as `samovar embed` writes them. A task has `way`
classes with one labelled image of each, a heap of unlabelled images of the same classes, and images
to measure the accuracy on, which are in neither. In each round a rule chooses ten images of the
heap, which get their labels, and the model `photos` is fitted to all that are labelled. A balanced
heap has as many images of each class; a long-tailed one has 0.75 times as many of each class as of
the class before (measured where that leaves as many images as labels are given in the end).

All rules have the same tasks. "labels needed" is where the mean accuracy of a rule reaches that of
random choice at 50 labels, by linear interpolation between rounds. Differences are paired.
"""

import json
import math
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch
import tyro
from numpy.typing import NDArray
from torch import Tensor

from samovar.artifacts.loaded_models import LOADED_MODELS
from samovar.artifacts.locate import locate_model
from samovar.core.files import write_whole
from samovar.core.randomness import generator
from samovar.data.collections import VectorCollection
from samovar.models.closed_form import ClosedForm, Moments, Regression
from samovar.prediction.predictive import Prediction
from samovar.prediction.regression import predict_regression
from samovar.prediction.sampling_noise import PredictiveNoise
from samovar.prediction.suggestion import choose, doubt_of, regression_covariance

SAMPLES = 128
GOAL = 50
"""Labels of random choice whose accuracy the others are to reach."""
SMALLEST_CLASS = 12
TAIL = 0.75


@dataclass(frozen=True)
class Arguments:
    """What to measure."""

    vectors: tuple[Path, ...]
    tasks: int = 60
    way: int = 10
    batch: int = 10
    most: int = 60
    """Labels in the end."""
    out: Path | None = None


@dataclass(frozen=True)
class Heap:
    """One task: what is labelled at first, the heap with labels nobody knows yet, and a test."""

    start: tuple[Tensor, Tensor]
    heap: tuple[Tensor, Tensor]
    test: tuple[Tensor, Tensor]
    way: int

    @classmethod
    def draw(cls, collection: VectorCollection, way: int, number: int, tail: bool) -> "Heap":
        """Draw a task."""
        noise = generator(0, f"next benchmark {collection.name}", number)
        usable = [images for images in collection.classes if len(images) >= SMALLEST_CLASS]
        parts: dict[str, list[Tensor]] = {"start": [], "heap": [], "test": []}
        labels: dict[str, list[int]] = {"start": [], "heap": [], "test": []}
        for label, position in enumerate(noise.permutation(len(usable))[:way]):
            images = usable[position]
            images = images[torch.from_numpy(noise.permutation(len(images)))]
            tested = max(4, len(images) // 3)
            rest = images[tested + 1 :]
            if tail:
                rest = rest[: max(2, int(len(rest) * TAIL**label))]
            drawn = {"test": images[:tested], "start": images[tested : tested + 1], "heap": rest}
            for part, vectors in drawn.items():
                parts[part].append(vectors)
                labels[part] += [label] * len(vectors)
        found = [(torch.cat(parts[part]), torch.tensor(labels[part])) for part in parts]
        return cls(*found, way)


Rule = Callable[[Regression, Tensor, int, np.random.Generator], list[int]]


def predicted(regression: Regression, moments: Moments) -> Prediction:
    """Return what the model says of images with these moments."""
    noise = PredictiveNoise(0, [0], quasi=True)
    return predict_regression(regression, moments, SAMPLES, noise)


def by_chance(
    regression: Regression, vectors: Tensor, count: int, noise: np.random.Generator
) -> list[int]:
    """Choose at random."""
    del regression
    return noise.permutation(len(vectors))[:count].tolist()


def by_least_confidence(
    regression: Regression, vectors: Tensor, count: int, noise: np.random.Generator
) -> list[int]:
    """Choose those whose best class is least probable."""
    del noise
    probabilities = predicted(regression, regression.moments(vectors)).probabilities[0]
    return probabilities.amax(1).argsort()[:count].tolist()


def by_information(
    regression: Regression, vectors: Tensor, count: int, noise: np.random.Generator
) -> list[int]:
    """Choose by the mutual information of label and classifier (BALD), each for itself."""
    del noise
    information = predicted(regression, regression.moments(vectors)).mutual_information
    assert information is not None
    return information[0].argsort(descending=True)[:count].tolist()


def by_joint_information(
    regression: Regression, vectors: Tensor, count: int, noise: np.random.Generator
) -> list[int]:
    """Choose by BALD greedily, with the variance that is left given those chosen before."""
    del noise
    scores = regression.moments(vectors).scores
    covariance, ridge = regression_covariance(regression, vectors)
    chosen: list[int] = []
    for _ in range(min(count, len(vectors))):
        variance = covariance.diagonal().clamp(min=0)
        information = predicted(regression, Moments(scores, variance)).mutual_information
        assert information is not None
        information = information[0].clone()
        information[chosen] = -1
        best = int(information.argmax())
        chosen.append(best)
        told = covariance[:, best].clone()
        covariance = covariance - torch.outer(told, told / (ridge + variance[best]))
    return chosen


def by_suggestion(
    regression: Regression, vectors: Tensor, count: int, noise: np.random.Generator
) -> list[int]:
    """Choose as `samovar next` does."""
    del noise
    prediction = predicted(regression, regression.moments(vectors))
    covariance, ridge = regression_covariance(regression, vectors)
    doubt = doubt_of(prediction.probabilities[0])
    return choose(doubt, covariance, ridge, count).positions.tolist()


RULES: dict[str, Rule] = {
    "random": by_chance,
    "least confidence": by_least_confidence,
    "BALD": by_information,
    "BALD, greedy": by_joint_information,
    "samovar next": by_suggestion,
}


@torch.no_grad()
def curve(model: ClosedForm, heap: Heap, rule: Rule, number: int, arguments: Arguments) -> Any:
    """Return the accuracy after each round."""
    noise = generator(0, "next benchmark, by chance", number)
    vectors, labels = heap.start
    left = torch.ones(len(heap.heap[1]), dtype=torch.bool)
    accuracies = []
    while True:
        regression = model.infer(vectors, labels, heap.way)
        answers = regression.moments(heap.test[0]).scores.argmax(1)
        accuracies.append(float((answers == heap.test[1]).double().mean()))
        wanted = min(arguments.batch, arguments.most - len(labels))
        if wanted <= 0:
            return accuracies
        if left.any():
            remaining = torch.nonzero(left).flatten()
            picked = remaining[rule(regression, heap.heap[0][remaining], wanted, noise)]
            left[picked] = False
            vectors = torch.cat([vectors, heap.heap[0][picked]])
            labels = torch.cat([labels, heap.heap[1][picked]])
            continue
        return accuracies


def needed(counts: list[int], accuracies: NDArray[np.float64], goal: float) -> float | None:
    """Return the number of labels at which the accuracy reaches a goal; None if it never does."""
    for position, accuracy in enumerate(accuracies):
        if accuracy < goal:
            continue
        if position == 0:
            return counts[0]
        before = accuracies[position - 1]
        share = (goal - before) / (accuracy - before)
        return counts[position - 1] + share * (counts[position] - counts[position - 1])
    return None


def difference(mine: NDArray[np.float64], other: NDArray[np.float64]) -> list[float]:
    """Return the mean of the paired difference in points, with its standard error."""
    points = 100 * (mine - other)
    error = points.std(ddof=1) / math.sqrt(len(points))
    return [round(float(points.mean()), 2), round(float(error), 2)]


def measure(
    model: ClosedForm, collection: VectorCollection, tail: bool, arguments: Arguments
) -> dict[str, Any]:
    """Compare the rules on tasks of one collection."""
    curves: dict[str, list[list[float]]] = {name: [] for name in RULES}
    for number in range(arguments.tasks):
        heap = Heap.draw(collection, arguments.way, number, tail)
        for name, rule in RULES.items():
            curves[name].append(curve(model, heap, rule, number, arguments))
    rounds = min(len(accuracies) for accuracies in curves["random"])
    counts = [arguments.way + arguments.batch * number for number in range(rounds)]
    tables = {name: np.array([row[:rounds] for row in rows]) for name, rows in curves.items()}
    goal = float(np.interp(GOAL, counts, tables["random"].mean(0)))
    at = counts.index(arguments.way + 2 * arguments.batch)
    rules = {}
    for name, table in tables.items():
        labels = needed(counts, table.mean(0), goal)
        rules[name] = {
            "accuracy": [round(float(value), 4) for value in table.mean(0)],
            "labels needed": None if labels is None else round(labels, 1),
            f"minus random at {counts[at]}": difference(table[:, at], tables["random"][:, at]),
            f"minus least confidence at {counts[at]}": difference(
                table[:, at], tables["least confidence"][:, at]
            ),
        }
    kind = "long-tailed" if tail else "balanced"
    heap_size = len(Heap.draw(collection, arguments.way, 0, tail).heap[1])
    return {
        "collection": collection.name,
        "heap": kind,
        "images in the heap": heap_size,
        "labels": counts,
        "rules": rules,
    }


def main() -> None:
    """Measure all collections."""
    arguments = tyro.cli(Arguments, description=__doc__)
    model = LOADED_MODELS.get(locate_model("photos")).model
    assert isinstance(model, ClosedForm)
    results = []
    for path in arguments.vectors:
        collection = VectorCollection.read(path)
        for tail in (False, True):
            if len(Heap.draw(collection, arguments.way, 0, tail).heap[1]) < arguments.most:
                continue
            row = measure(model, collection, tail, arguments)
            results.append(row)
            print(json.dumps(row), flush=True)
    if arguments.out is not None:
        content = {"tasks": arguments.tasks, "way": arguments.way, "results": results}
        write_whole(arguments.out, json.dumps(content, indent=1).encode())


if __name__ == "__main__":
    main()
