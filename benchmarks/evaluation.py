"""Time an evaluation by the paper's protocol against a plain loop; prints JSON.

The protocol is 5-way 5-shot, 15 queries per class, 1000 samples, 5000 tasks.

    python benchmarks/evaluation.py
    python benchmarks/evaluation.py --cases conv4 --episodes 20 --plain-tasks 2     (a quick look)

The data is CIFAR-FS if it is prepared, else random images of its shape. The plain loop embeds every
task's 100 images and samples the weights; it is timed on 200 tasks, in a separate process with the
default allocator and memory order. Ours is timed on all tasks, embedding included. The
ceiling is what embedding each of the 12,000 images once could gain if all else were free:
100 x 5000 / 12,000 = 42.
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
from samovar.data.store import ClassEntry, Contents, data_folder, open_store
from samovar.data.store_writer import write_store
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
    """Tasks of our evaluation."""
    plain_tasks: int = 200
    """Tasks of the plain loop."""
    plain: str | None = None
    """Internal: time the plain loop with this model, in this process."""


def data(folder: Path) -> Dataset:
    """Return CIFAR-FS's test classes, or random images of their shape."""
    if (data_folder() / "cifar_fs").exists():
        return Dataset(open_store("cifar_fs"), "test")
    noise = np.random.default_rng(0)
    names = [f"random {number}" for number in range(20)]
    contents = Contents(
        [ClassEntry(name, 600) for name in names],
        (32, 32, 3),
        lambda _: noise.integers(256, size=(600, 32, 32, 3), dtype=np.uint8),
        {"all": {"train": [], "val": [], "test": names}},
    )
    facts = {"title": "random images", "licence": "none", "citation": "none"}
    return Dataset(write_store("random", facts, contents, folder), "test")


def model_of(case: str) -> SavedModel:
    """Return an untrained model."""
    normalisation = Normalization((0.5,) * 3, (0.25,) * 3, 255.0)
    return SavedModel(FewShotModel(CASES[case]).eval(), normalisation)


@torch.no_grad()
def plain_loop(case: str, tasks: int, dataset: Dataset) -> float:
    """Return the seconds per task of the plain loop."""
    saved = model_of(case)
    model = saved.model
    sampler = EpisodeSampler(dataset, Protocol(shot=5).tasks, 0)

    def images(indices: np.ndarray) -> torch.Tensor:
        pixels = []
        for index in indices:
            image = torch.from_numpy(dataset.store.array[index].astype(np.float32))
            pixels.append(image.permute(2, 0, 1))
        return saved.normalisation(torch.stack(pixels))

    def answer(task: int) -> None:
        episode = sampler.draw(task, 1)
        labels = torch.tensor(episode.support_labels)
        support = images(episode.support[0])[None]
        prior = model.task_prior(support, labels, 5)
        query = model.embed(images(episode.query[0])[None])[0]
        weights = prior.weights.mean + prior.weights.stddev * torch.randn(1000, 5, query.shape[1])
        if model.settings.classifier == "cosine":
            unit = torch.nn.functional.normalize(query, dim=-1)
            logits = (
                model.settings.alpha
                * unit
                @ torch.nn.functional.normalize(weights, dim=-1).transpose(1, 2)
            )
        else:
            assert prior.biases is not None
            biases = prior.biases.mean + prior.biases.stddev * torch.randn(1000, 5)
            logits = query @ weights.transpose(1, 2) + biases[:, None]
        logits.softmax(-1).mean(0)

    answer(0)  # warm-up
    started = time.perf_counter()
    for task in range(tasks):
        answer(task)
    return (time.perf_counter() - started) / tasks


def time_plain(case: str, tasks: int) -> float:
    """Return the seconds per task of the plain loop, timed in a separate process."""
    command = [sys.executable, __file__, "--plain", case, "--plain-tasks", str(tasks)]
    return float(subprocess.run(command, capture_output=True, text=True, check=True).stdout)


def time_ours(saved: SavedModel, protocol: Protocol, dataset: Dataset) -> tuple[float, float]:
    """Return the seconds of an evaluation, and the process's peak of memory so far in megabytes."""
    started = time.perf_counter()
    evaluate(saved, protocol, dataset, temperature=False)
    seconds = time.perf_counter() - started
    return seconds, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1000


def measure(case: str, arguments: Arguments, dataset: Dataset) -> dict[str, Any]:
    """Time ours, with as many samples and with few quasi-random ones, against the plain loop."""
    plain = time_plain(case, arguments.plain_tasks)
    saved = model_of(case)
    paper = Protocol(shot=5, episodes=arguments.episodes)
    time_ours(saved, replace(paper, episodes=20), dataset)  # warm-up
    # Memory is measured at a tenth of the tasks first, since a peak is never forgotten.
    tenth = replace(paper, episodes=max(20, arguments.episodes // 10))
    _, memory_at_tenth = time_ours(saved, tenth, dataset)
    random, memory_at_all = time_ours(saved, paper, dataset)
    quasi, _ = time_ours(saved, replace(paper, samples=64, quasi=True), dataset)
    seconds = {"1000 samples": random, "64 quasi-random samples": quasi}
    ratios = {name: plain * arguments.episodes / value for name, value in seconds.items()}
    return {
        "plain_ms_per_task": round(1000 * plain, 1),
        "ours_seconds": rounded(seconds),
        "times_faster": rounded(ratios),
        "ceiling": round(100 * arguments.episodes / 12_000, 1),
        "peak_megabytes_at_a_tenth_of_the_tasks_and_at_all": [
            round(memory_at_tenth),
            round(memory_at_all),
        ],
    }


def rounded(numbers: dict[str, float]) -> dict[str, float]:
    """Round to one digit."""
    return {name: round(value, 1) for name, value in numbers.items()}


def main(arguments: Arguments) -> None:
    """Measure every case and print the JSON."""
    with tempfile.TemporaryDirectory() as folder:
        dataset = data(Path(folder))
        if arguments.plain is not None:
            print(plain_loop(arguments.plain, arguments.plain_tasks, dataset))
            return
        tune_allocator()
        result: dict[str, Any] = {"data": dataset.description, "threads": torch.get_num_threads()}
        for case in arguments.cases:
            result[case] = measure(case, arguments, dataset)
            print(json.dumps({case: result[case]}), file=sys.stderr)
        print(json.dumps(result, indent=1))


if __name__ == "__main__":
    main(tyro.cli(Arguments))
