"""The paper's protocol (5-way 5-shot, 15 queries per class, 1000 samples, 5000 tasks) against the plain way. JSON.

    python benchmarks/evaluation.py                  (CIFAR-FS if it is prepared, else random images in its shape)

The plain way embeds every task's 100 images, samples the weights, and loops; it is timed on 200 tasks, in a process of
its own with the default allocator and memory order. Ours is timed on all tasks, embedding included. The ceiling is what
embedding each of the 12,000 images once could gain if all else were free: 100 x 5000 / 12,000 = 42.
"""

import json
import resource
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import torch
import tyro

from samovar.artifacts.saved_model import SavedModel
from samovar.core.allocator import tune_allocator
from samovar.data.dataset import Dataset
from samovar.data.episodes import EpisodeSampler
from samovar.data.normalization import Normalization
from samovar.data.preparation import ready
from samovar.data.store import ClassEntry, Contents
from samovar.data.store_writer import write_store
from samovar.errors import DataError
from samovar.evaluation.evaluator import evaluate
from samovar.models.few_shot_model import FewShotModel
from samovar.settings.model import ModelSettings
from samovar.settings.tasks import Protocol

CASES = {
    "conv4": ModelSettings(),
    "resnet12": ModelSettings(backbone="resnet12", classifier="cosine"),
    "resnet12-ten": ModelSettings(backbone="resnet12", classifier="cosine", task_embedding=True),
}


@dataclass
class Arguments:
    """What to measure."""

    cases: tuple[str, ...] = ("conv4", "resnet12")
    """Which models, untrained: time does not depend on the weights. Also: resnet12-ten."""
    episodes: int = 5000
    """Tasks of ours."""
    plain_tasks: int = 200
    """Tasks of the plain way."""
    plain: str | None = None
    """Time the plain way of this model, in this process."""


def data(folder: Path) -> Dataset:
    """CIFAR-FS's test classes, or random images in their shape."""
    try:
        return Dataset(ready("cifar_fs"), "test")
    except DataError:
        noise = np.random.default_rng(0)
        names = [f"random {i}" for i in range(20)]
        contents = Contents(
            [ClassEntry(name, 600) for name in names],
            (32, 32, 3),
            lambda _: noise.integers(256, size=(600, 32, 32, 3), dtype=np.uint8),
            {"all": {"train": [], "val": [], "test": names}},
        )
        facts = {"title": "random images", "licence": "none", "citation": "none"}
        return Dataset(write_store("random", facts, contents, folder), "test")


def model_of(case: str) -> SavedModel:
    """An untrained model."""
    return SavedModel(
        FewShotModel(CASES[case]).eval(), Normalization((0.5,) * 3, (0.25,) * 3, 255.0)
    )


@torch.no_grad()
def plain_way(case: str, tasks: int, dataset: Dataset) -> float:
    """Seconds per task of the plain way."""
    saved = model_of(case)
    model, protocol = saved.model, Protocol(shot=5)
    sampler = EpisodeSampler(dataset, protocol.tasks, 0)

    def images(indices: np.ndarray) -> torch.Tensor:
        pixels = [
            torch.from_numpy(dataset.store.array[i].astype(np.float32)).permute(2, 0, 1)
            for i in indices
        ]
        return saved.normalisation(torch.stack(pixels))

    def one(task: int) -> None:
        episode = sampler.draw(task, 1)
        labels = torch.tensor(episode.support_labels)
        support = images(episode.support[0])[None]
        prior = model.task_prior(support, labels, 5)
        query = model.embed(images(episode.query[0])[None])[0]
        weights = prior.weights.mean + prior.weights.stddev * torch.randn(1000, 5, query.shape[1])
        if model.settings.classifier == "cosine":
            unit = torch.nn.functional.normalize(query, dim=-1)
            logits = 25 * unit @ torch.nn.functional.normalize(weights, dim=-1).transpose(1, 2)
        else:
            assert prior.biases is not None
            biases = prior.biases.mean + prior.biases.stddev * torch.randn(1000, 5)
            logits = query @ weights.transpose(1, 2) + biases[:, None]
        logits.softmax(-1).mean(0)

    one(0)
    started = time.perf_counter()
    for task in range(tasks):
        one(task)
    return (time.perf_counter() - started) / tasks


def measure(case: str, arguments: Arguments, dataset: Dataset) -> dict[str, Any]:
    """Ours, with as many samples and with few quasi-random ones, against the plain way."""
    command = [
        sys.executable,
        __file__,
        "--plain",
        case,
        "--plain-tasks",
        str(arguments.plain_tasks),
    ]
    plain = float(subprocess.run(command, capture_output=True, text=True, check=True).stdout)
    saved, seconds, memory = model_of(case), {}, []
    paper = Protocol(shot=5, episodes=arguments.episodes)
    evaluate(saved, replace(paper, episodes=20), dataset, temperature=False)  # warm
    for name, protocol in (
        ("fewer tasks", replace(paper, episodes=max(20, arguments.episodes // 10))),
        ("1000 samples", paper),
        ("64 quasi-random samples", replace(paper, samples=64, quasi=True)),
    ):
        started = time.perf_counter()
        evaluate(saved, protocol, dataset, temperature=False)
        seconds[name] = time.perf_counter() - started
        memory.append(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1000)
    del seconds["fewer tasks"]
    ratios = {name: round(plain * arguments.episodes / each, 1) for name, each in seconds.items()}
    return {
        "plain_ms_per_task": round(1000 * plain, 1),
        "ours_seconds": {name: round(each, 1) for name, each in seconds.items()},
        "times_faster": ratios,
        "ceiling": round(100 * arguments.episodes / 12_000, 1),
        "peak_megabytes_at_a_tenth_of_the_tasks_and_at_all": [round(each) for each in memory[:2]],
    }


def main(arguments: Arguments) -> None:
    """Print the JSON."""
    with tempfile.TemporaryDirectory() as folder:
        dataset = data(Path(folder))
        if arguments.plain is not None:
            print(plain_way(arguments.plain, arguments.plain_tasks, dataset))
            return
        tune_allocator()
        result: dict[str, Any] = {"data": dataset.description, "threads": torch.get_num_threads()}
        for case in arguments.cases:
            result[case] = measure(case, arguments, dataset)
            print(json.dumps({case: result[case]}), file=sys.stderr)
        print(json.dumps(result, indent=1))


if __name__ == "__main__":
    main(tyro.cli(Arguments))
