"""Measure the sets of models that are networks: leave-one-out and transferred; prints JSON.

    python benchmarks/sets_networks.py --model glyphs --data glyphs --out results/sets_glyphs.json

Neither is guaranteed: this is what they cover on tasks of the test classes. With one image of each
class the quantiles are those of the model, measured on its validation classes.
"""

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch
import tyro

from samovar.artifacts.saved_model import SavedModel
from samovar.artifacts.saved_regression import SavedRegression
from samovar.classifier.answer import AnswerParameters, probabilities_of
from samovar.classifier.loading import fit_task, ready_model
from samovar.classifier.sets import SetRequest, predict_sets
from samovar.core.files import write_whole
from samovar.data.dataset import Dataset
from samovar.data.episodes import EpisodeSampler
from samovar.data.preparation import ready
from samovar.errors import SettingsError
from samovar.settings.tasks import EpisodeSettings

CPU = torch.device("cpu")
PARAMETERS = AnswerParameters()
Saved = SavedModel | SavedRegression


@dataclass(frozen=True)
class Arguments:
    """What to measure."""

    model: str = "glyphs"
    data: str = "glyphs"
    tasks: int = 40
    ways: tuple[int, ...] = (5, 20)
    shots: tuple[int, ...] = (1, 2, 5, 10)
    confidences: tuple[float, ...] = (0.8, 0.9, 0.95)
    out: Path | None = None


def measure(
    saved: Saved, dataset: Dataset, shape: tuple[int, int], wanted: Arguments
) -> dict[str, Any]:
    """Measure coverage and size over tasks of one shape, by confidence."""
    way, shot = shape
    sampler = EpisodeSampler(dataset, EpisodeSettings(way, shot, 5), seed=5)
    images = dataset.store.array
    tallies: dict[float, list[tuple[float, float]]] = {}
    for number in range(wanted.tasks):
        drawn = sampler.draw(number, 1)
        support = list(torch.from_numpy(images[drawn.support[0]]))
        queries = list(torch.from_numpy(images[drawn.query[0]]))
        labels = drawn.query_labels[0]
        fitted = fit_task(saved, CPU, support, drawn.support_labels[0].tolist())
        probabilities = probabilities_of(fitted.predict(queries, PARAMETERS))
        for confidence in wanted.confidences:
            request = SetRequest(confidence)
            try:
                sets = predict_sets(fitted, queries, probabilities, request, PARAMETERS).members
            except SettingsError:  # too few images for this confidence
                continue
            covered = float(sets[np.arange(len(labels)), labels].mean())
            tallies.setdefault(confidence, []).append((covered, float(sets.sum(1).mean())))
    row: dict[str, Any] = {"way": way, "shot": shot}
    for confidence, values in tallies.items():
        coverage, size = np.mean(values, axis=0)
        row[f"{confidence:g}"] = {"coverage": round(coverage, 4), "size": round(size, 3)}
    return row


def main() -> None:
    """Measure every shape that the data allow."""
    wanted = tyro.cli(Arguments, description=__doc__)
    dataset = Dataset(ready(wanted.data), "test")
    saved = ready_model(wanted.model, CPU)
    results = []
    for way in wanted.ways:
        for shot in wanted.shots:
            row = measure(saved, dataset, (way, shot), wanted)
            print(json.dumps(row), flush=True)
            results.append(row)
    if wanted.out is not None:
        content = {"format": 1, "model": wanted.model, "data": dataset.description}
        content |= {"tasks": wanted.tasks, "results": results}
        write_whole(wanted.out, json.dumps(content, indent=1).encode())


if __name__ == "__main__":
    main()
