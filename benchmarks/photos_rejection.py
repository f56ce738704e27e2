"""Measure how often `photos` answers "none of these", at the rate that is asked for; prints JSON.

    python benchmarks/photos_rejection.py --vectors grocery_photos.npz mini.npz

The files are made by `samovar embed`. Tasks are fitted and answered as FewShotClassifier does it.
`belong` is the share of queries of the task's classes that are rejected, `others` that of queries
of other classes; `auroc` says how well the score tells the two apart.
"""

import json
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import torch
import tyro
from sklearn.metrics import roc_auc_score

from samovar import load_model
from samovar.artifacts.locate import locate_model
from samovar.artifacts.saved_regression import SavedRegression
from samovar.classifier.answer import AnswerParameters
from samovar.classifier.fitted_regression import fit_regression
from samovar.data.collections import VectorCollection

SHAPES = ((5, 5), (5, 2), (5, 1), (1, 5))
QUERIES = 10


@dataclass(frozen=True)
class Arguments:
    """What to measure."""

    vectors: tuple[Path, ...]
    """Files of vectors, one for each collection."""
    model: str = "photos"
    rate: float = 0.05
    tasks: int = 200


def measure(
    saved: SavedRegression,
    collection: VectorCollection,
    shape: tuple[int, int],
    rate: float,
    tasks: int,
) -> dict[str, object]:
    """Return the shares and the AUROC over tasks of one shape, as means over tasks."""
    way, shot = shape
    parameters = AnswerParameters(reject=rate)
    accuracy = []
    belong = []
    others = []
    areas = []
    for number in range(tasks):
        task = collection.task(way, shot, QUERIES, key=(7, "rejection benchmark", number))
        fitted = fit_regression(saved, list(task.support), task.support_labels.tolist())
        inside = fitted.answer(list(task.query), parameters)
        outside = fitted.answer(list(task.outside), parameters)
        labels = task.query_labels.numpy()
        accuracy.append(np.mean(inside.probabilities.argmax(1) == labels))
        belong.append(np.mean(inside.rejected))
        others.append(np.mean(outside.rejected))
        is_outside = np.repeat([False, True], [len(inside.distance), len(outside.distance)])
        scores = np.concatenate([inside.distance, outside.distance])
        areas.append(roc_auc_score(is_outside, scores))
    metrics = {"accuracy": accuracy, "belong": belong, "others": others, "auroc": areas}
    row: dict[str, object] = {"collection": collection.name, "way": way, "shot": shot}
    for name, values in metrics.items():
        row[name] = round(float(np.mean(values)), 3)
    return row


def main() -> None:
    """Measure every collection and shape."""
    arguments = tyro.cli(Arguments, description=__doc__)
    torch.set_num_threads(1)
    saved = load_model(locate_model(arguments.model))
    assert isinstance(saved, SavedRegression)
    for path in arguments.vectors:
        collection = VectorCollection.read(path)
        for shape in SHAPES:
            row = measure(saved, collection, shape, arguments.rate, arguments.tasks)
            print(json.dumps(row), flush=True)


if __name__ == "__main__":
    main()
