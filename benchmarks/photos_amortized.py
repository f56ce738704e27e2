"""Measure amortized SAMOVAR beside the closed form, on the tasks of benchmarks/photos.py.

    python benchmarks/photos_amortized.py --vectors A.npz B.npz C.npz --out FILE.json
    python benchmarks/photos_amortized.py --table FILE.json

Each collection of --vectors is left out in turn, as in benchmarks/photos.py, once for each training
seed. Methods: the closed form; SAMOVAR-SC with residual inference networks on the same vectors,
with and without the count of examples as an input of g; and the two combinations of
benchmarks/photos_corrections.py. --table prints the means over collections and seeds, and the
paired differences from the closed form.
"""

import json
import math
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np
import torch
import tyro
from photos import Arguments as PhotosArguments
from photos import Tally, shapes_of, unrelated
from photos_corrections import (
    POWER,
    SimilarityTemperature,
    WeightCorrection,
    answer,
    train_correction,
)

from samovar.core.files import write_whole
from samovar.data.batches import TaskBatch
from samovar.data.collections import VectorCollection, VectorTask
from samovar.models.closed_form import ClosedForm, unit_features
from samovar.models.few_shot_model import FewShotModel
from samovar.models.noise import TaskNoise
from samovar.prediction.predictive import predict
from samovar.prediction.sampling_noise import PredictiveNoise
from samovar.settings.model import ModelSettings
from samovar.training.closed_form import ClosedFormSettings, draw_task, train_closed_form

AMORTIZED = ModelSettings(
    backbone="identity",
    size=1280,
    classifier="cosine",
    alpha=75.0,
    samples=4,
    inference="residual",
    count_input=True,
    log_variance_skip=False,
    first_log_variance=-2.0,
)
MATRIX_RATE = 1e-5
"""Matrices hardly move: where they did, 5 to 10 points were lost on unlike collections."""
VECTOR_RATE = 1e-2
"""Biases, and the slopes of the log-variance in log k, are what the networks learn."""
WEIGHT_DECAY = 1e-4
TASKS_PER_UPDATE = 4
CORRECTION_TASKS = 600
SAMPLES = 32
WITHOUT_COUNT = "amortized, without count"
METRICS = ("accuracy", "nll", "ece_pooled")


@dataclass(frozen=True)
class Arguments:
    """What to measure, or which file to print as a table."""

    vectors: tuple[Path, ...] = ()
    test_only: tuple[Path, ...] = ()
    same_source: tuple[str, ...] = ()
    seeds: tuple[int, ...] = (0, 1, 2)
    tasks: int = 100
    updates: int = 200
    """Updates of the amortized networks, of four tasks each."""
    networks: bool = True
    """Train the amortized networks, which take most of the time, or the rest alone."""
    out: Path | None = None
    table: tuple[Path, ...] = ()
    """Files whose results are joined (the last one counts) and printed instead of measuring."""


@dataclass
class Trained:
    """What was learned from the same collections."""

    closed_form: ClosedForm
    networks: dict[str, FewShotModel] = field(default_factory=dict)
    corrections: dict[str, SimilarityTemperature | WeightCorrection] = field(default_factory=dict)


def batch_of(task: VectorTask) -> TaskBatch:
    """Return a task as a batch of one, with the vectors that networks see.

    They are those of the closed form, rooted and of one length, but of length sqrt(d), so that each
    number is about 1, the scale that initial weights and variances are meant for.
    """
    scale = math.sqrt(task.support.shape[1])
    support = (scale * unit_features(task.support, POWER)).float()
    query = (scale * unit_features(task.query, POWER)).float()
    labels = task.support_labels[None]
    return TaskBatch(support[None], labels, query[None], task.query_labels[None], task.way)


def parameter_groups(model: FewShotModel) -> list[dict[str, Any]]:
    """Return matrices and vectors of the inference networks, with their rates."""
    matrices = []
    vectors = []
    for name, parameter in model.named_parameters():
        if parameter.ndim == 1 or "log_variance_by_count" in name:
            vectors.append(parameter)
        else:
            matrices.append(parameter)
    return [
        {"params": matrices, "first_rate": MATRIX_RATE},
        {"params": vectors, "first_rate": VECTOR_RATE},
    ]


def train_amortized(
    collections: list[VectorCollection], settings: ModelSettings, updates: int, seed: int
) -> FewShotModel:
    """Train SAMOVAR on the tasks that the closed form is trained on, by the ELBO."""
    model = FewShotModel(settings, seed=seed)
    optimizer = torch.optim.AdamW(parameter_groups(model), weight_decay=WEIGHT_DECAY)
    drawing = ClosedFormSettings(seed=seed)
    for update in range(updates):
        for group in optimizer.param_groups:
            group["lr"] = group["first_rate"] * max(0.01, 1 - update / updates)
        optimizer.zero_grad()
        for number in range(TASKS_PER_UPDATE):
            task = draw_task(collections, drawing, update * TASKS_PER_UPDATE + number)
            result = model(batch_of(task), TaskNoise(seed, update, [number]))
            (result.loss / math.log(task.way) / TASKS_PER_UPDATE).backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
    return model.eval()


def train(collections: list[VectorCollection], arguments: Arguments, seed: int) -> Trained:
    """Train every method on the same collections."""
    trained = Trained(train_closed_form(collections, ClosedFormSettings(seed=seed)))
    if arguments.networks:
        without_count = replace(AMORTIZED, count_input=False)
        for name, settings in (("amortized", AMORTIZED), (WITHOUT_COUNT, without_count)):
            network = train_amortized(collections, settings, arguments.updates, seed)
            trained.networks[name] = network
    trained.corrections["closed form, correction"] = WeightCorrection()
    trained.corrections["closed form, similarity"] = SimilarityTemperature()
    answered = []
    # Tasks that the closed form was not trained on.
    drawing = ClosedFormSettings(seed=seed + 100)
    for number in range(CORRECTION_TASKS):
        answered.append(answer(trained.closed_form, draw_task(collections, drawing, number)))
    for correction in trained.corrections.values():
        train_correction(correction, answered, seed)
    return trained


@torch.no_grad()
def measure(
    trained: Trained, collection: VectorCollection, shape: tuple[int, int], tasks: int
) -> dict[str, dict[str, float]]:
    """Return the metrics of every method on the tasks of one shape."""
    tallies: dict[str, Tally] = {}
    for number in range(tasks):
        task = collection.task(*shape, 10, key=(7, "photos benchmark", number))
        for name, probabilities in answers(trained, task, number).items():
            tally = tallies.setdefault(name, Tally())
            tally.add(probabilities.double().numpy(), task.query_labels.numpy())
    metrics = {}
    for name, tally in tallies.items():
        metrics[name] = tally.metrics()
        del metrics[name]["milliseconds_per_task"]
    return metrics


def answers(trained: Trained, task: VectorTask, number: int) -> dict[str, torch.Tensor]:
    """Return the probabilities (Q, N) of every method."""
    answered = answer(trained.closed_form, task)
    probabilities = {"closed form": answered.log_probabilities.exp()}
    batch = batch_of(task)
    noise = PredictiveNoise(0, [number])
    for name, model in trained.networks.items():
        prior = model.task_prior(batch.support, batch.support_labels, task.way)
        prediction = predict(model.classifier, prior, batch.query, SAMPLES, noise)
        probabilities[name] = prediction.probabilities[0]
    for name, correction in trained.corrections.items():
        probabilities[name] = correction.probabilities(answered)
    return probabilities


def run(arguments: Arguments) -> list[dict[str, Any]]:
    """Leave out each collection in turn, for each seed, and return a row for each shape."""
    trained_on = [VectorCollection.read(path) for path in arguments.vectors]
    test_only = [VectorCollection.read(path) for path in arguments.test_only]
    shapes = PhotosArguments(vectors=())
    rows = []
    for seed in arguments.seeds:
        learned: dict[tuple[str, ...], Trained] = {}
        for collection in (*trained_on, *test_only):
            others = unrelated(collection, trained_on, arguments.same_source)
            key = tuple(other.name for other in others)
            if key not in learned:
                learned[key] = train(others, arguments, seed)
            for way, shot in shapes_of(collection, shapes):
                metrics = measure(learned[key], collection, (way, shot), arguments.tasks)
                row = {"collection": collection.name, "seed": seed, "way": way, "shot": shot}
                rows.append(row | {"methods": metrics})
                print(json.dumps(rows[-1]), flush=True)
    return rows


def mean_of(rows: list[dict[str, Any]], method: str, metric: str) -> float:
    """Return the mean of a metric over collections and seeds."""
    return float(np.mean([row["methods"][method][metric] for row in rows]))


def print_table(rows: list[dict[str, Any]]) -> None:
    """Print accuracy / NLL / ECE of each method, then differences from the closed form by seed."""
    for way in (5, 20):
        shots = (1, 2, 5, 10)
        print(f"\n| | {' | '.join(f'{way}-way {shot}-shot' for shot in shots)} |")
        print("|---|---|---|---|---|")
        for method in rows[0]["methods"]:
            cells = []
            for shot in shots:
                shape = [row for row in rows if (row["way"], row["shot"]) == (way, shot)]
                accuracy, nll, ece = (mean_of(shape, method, metric) for metric in METRICS)
                cells.append(f"{100 * accuracy:.1f} / {nll:.3f} / {ece:.3f}")
            print(f"| {method} | {' | '.join(cells)} |")
    print("\ndifferences from the closed form, over all shapes and collections, by seed")
    for method in rows[0]["methods"]:
        for metric in METRICS:
            differences = []
            for seed in sorted({row["seed"] for row in rows}):
                of_seed = [row for row in rows if row["seed"] == seed]
                gap = mean_of(of_seed, method, metric) - mean_of(of_seed, "closed form", metric)
                differences.append(f"{gap:+.4f}")
            print(f"{method}: {metric} {', '.join(differences)}")


def joined(paths: tuple[Path, ...]) -> list[dict[str, Any]]:
    """Join files of results; the methods of one task shape may be in several of them."""
    rows: dict[tuple[Any, ...], dict[str, Any]] = {}
    for path in paths:
        for row in json.loads(path.read_bytes())["results"]:
            key = (row["collection"], row["seed"], row["way"], row["shot"])
            known = rows.setdefault(key, row)["methods"]
            if known["closed form"] != row["methods"]["closed form"]:
                raise SystemExit(f"{path} measured another closed form or other tasks: {key}")
            known |= row["methods"]
    return list(rows.values())


def main() -> None:
    """Measure, or print a table of what was measured."""
    arguments = tyro.cli(Arguments, description=__doc__)
    rows = joined(arguments.table)
    if not arguments.table:
        rows = run(arguments)
    if arguments.out is not None:
        content = {"format": 1, "tasks": arguments.tasks, "results": rows}
        write_whole(arguments.out, json.dumps(content, indent=1).encode())
    print_table(rows)


if __name__ == "__main__":
    main()
