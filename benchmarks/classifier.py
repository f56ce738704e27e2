"""Time FewShotClassifier against its backbone and against scikit-learn; prints JSON.

    python benchmarks/classifier.py
    python benchmarks/classifier.py --classes 20 --updates 20     (a quick look)

1. Fit on 5 x 5 images and predict 75, tensors in memory, 128 samples: the ratio to the backbone's
   forward passes on the same 100 images (CONV-4, 32 pixels).
2. 1,000 classes x 20 examples and 10,000 predictions on vectors, 32 samples, scaled cosine, by a
   model that was trained on other classes of the same kind: accuracy, NLL and time beside logistic
   regression and nearest centroid. The vectors are Gaussian around class means; the spread within a
   class differs by dimension, which is what there is to learn.
"""

import json
import os
import resource
import statistics
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch
import tyro
from numpy.typing import NDArray
from sklearn.linear_model import LogisticRegression
from sklearn.neighbors import NearestCentroid

from samovar.artifacts.saved_model import SavedModel
from samovar.classifier.estimator import FewShotClassifier
from samovar.core.allocator import tune_allocator
from samovar.data.images.conversion import Conversion
from samovar.data.normalization import Normalization, network_input
from samovar.data.preparation import prepare
from samovar.models.few_shot_model import FewShotModel
from samovar.settings.data import DataSettings
from samovar.settings.model import ModelSettings
from samovar.settings.tasks import EpisodeSettings
from samovar.settings.training import OptimizerSettings, TrainSettings, ValidationSettings
from samovar.training.run import train

WIDTH = 128
"""Numbers in a vector."""
SUPPORT = 20
QUERIES = 10


@dataclass
class Arguments:
    """What to time."""

    classes: int = 1000
    """Classes of vectors; at least 20."""
    updates: int = 400
    """Updates of the model that classifies vectors."""


def timed(work: Callable[[], Any], repeats: int) -> float:
    """Return the median seconds of a call, after one call that does not count."""
    work()
    seconds = []
    for _ in range(repeats):
        started = time.perf_counter()
        work()
        seconds.append(time.perf_counter() - started)
    return statistics.median(seconds)


def overhead() -> dict[str, Any]:
    """Time fit and predict against the bare backbone."""
    normalisation = Normalization((0.5,) * 3, (0.25,) * 3)
    saved = SavedModel(FewShotModel(ModelSettings()).eval(), normalisation, {}, Conversion(32))
    images = torch.randint(256, (100, 32, 32, 3), dtype=torch.uint8)
    labels = np.repeat([f"class {number}" for number in range(5)], 5)
    classifier = FewShotClassifier(saved)

    def whole() -> None:
        classifier.fit(images[:25], labels).predict_proba(images[25:])

    @torch.no_grad()
    def bare() -> None:
        for batch in (images[:25], images[25:]):
            saved.model.embed(network_input(batch, normalisation)[None])

    ours = []
    backbone = []
    for _ in range(5):  # in turns, since timings drift
        ours.append(timed(whole, 5))
        backbone.append(timed(bare, 5))
    ours_seconds = statistics.median(ours)
    bare_seconds = statistics.median(backbone)
    return {
        "samples": 128,
        "ours_ms": round(1000 * ours_seconds, 1),
        "backbone_ms": round(1000 * bare_seconds, 1),
        "ratio": round(ours_seconds / bare_seconds, 2),
    }


def vectors(
    seed: int, classes: int, examples: int
) -> tuple[NDArray[np.float32], NDArray[np.int64]]:
    """Return vectors around class means, and labels; dimensions differ in how much they say."""
    noise = np.random.default_rng(seed)
    spread = np.linspace(0.5, 6.0, WIDTH)
    labels = np.repeat(np.arange(classes), examples)
    means = noise.normal(size=(classes, WIDTH))
    values = means[labels] + spread * noise.normal(size=(len(labels), WIDTH))
    return values.astype(np.float32), labels


def trained(folder: Path, updates: int) -> SavedModel:
    """Train a model on 500 other classes."""
    values, labels = vectors(1, 500, 40)
    np.savez(folder / "train.npz", features=values, labels=labels)
    store = prepare("features", folder / "train.npz")
    settings = TrainSettings(
        data=DataSettings(store.name),
        model=ModelSettings(backbone="identity", size=WIDTH, classifier="cosine"),
        episodes=EpisodeSettings(50, 20, 5),
        tasks=4,
        updates=updates,
        optimizer=OptimizerSettings(learning_rate=3e-3),
        validation=ValidationSettings(
            every=min(200, updates), tasks=50, way=20, shot=20, test_tasks=50
        ),
    )
    run = train(settings, folder / "run")
    assert run is not None
    return run.model


def many_classes(folder: Path, arguments: Arguments) -> dict[str, Any]:
    """Classify many classes, beside scikit-learn."""
    model = trained(folder, arguments.updates)
    values, labels = vectors(2, arguments.classes, SUPPORT + QUERIES)
    # The examples of a class follow each other: the first are support, the rest queries.
    order = np.arange(len(labels)) % (SUPPORT + QUERIES)
    support = order < SUPPORT
    query = ~support
    result: dict[str, Any] = {
        "classes": arguments.classes,
        "support": int(support.sum()),
        "queries": int(query.sum()),
    }
    for name, classifier in {
        "samovar (32 samples)": FewShotClassifier(model, samples=32),
        "logistic regression": LogisticRegression(max_iter=100),
        "nearest centroid": NearestCentroid(),
    }.items():
        started = time.perf_counter()
        classifier.fit(values[support], labels[support])
        probabilities = classifier.predict_proba(values[query])
        seconds = time.perf_counter() - started
        at_label = probabilities[np.arange(query.sum()), labels[query]]
        accuracy = (probabilities.argmax(1) == labels[query]).mean()
        nll = -np.log(np.maximum(at_label, 1e-30)).mean()
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1000
        result[name] = {
            "accuracy": round(float(accuracy), 4),
            "nll": round(float(nll), 3),
            "seconds": round(seconds, 1),
            "peak_megabytes_so_far": round(peak),
        }
    return result


def main(arguments: Arguments) -> None:
    """Time both and print the JSON."""
    with tempfile.TemporaryDirectory() as folder:
        os.environ["SAMOVAR_DATA"] = str(Path(folder) / "data")
        result = {
            "threads": torch.get_num_threads(),
            "overhead": overhead(),
            "features": many_classes(Path(folder), arguments),
        }
    print(json.dumps(result, indent=1))


if __name__ == "__main__":
    tune_allocator()
    main(tyro.cli(Arguments))
