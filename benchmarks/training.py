"""Training throughput against the bare backbone, against the usual way of writing it, and how it grows. Prints JSON.

    python benchmarks/training.py                    (random images in the official shapes; no data needed)

Bare: forward and backward of the same backbone on the same images, same memory format, threads and allocator; with TEN
it is the bare passes that TEN needs (support and query, plain and conditioned). The usual way: default allocator and
memory format, a DataLoader over single images, a loop over tasks; it runs in a process of its own, since allocator
settings last.
"""

import json
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import torch
import tyro
from torch import Tensor
from torch.utils.data import DataLoader, TensorDataset

from samovar.core.allocator import tune_allocator
from samovar.data.batches import BatchSource, TaskBatch
from samovar.data.dataset import Dataset
from samovar.data.episodes import EpisodeSampler
from samovar.data.normalization import Normalization
from samovar.data.store import ClassEntry, Contents
from samovar.data.store_writer import write_store
from samovar.models.few_shot_model import FewShotModel
from samovar.models.noise import TaskNoise
from samovar.settings.data import AugmentationSettings
from samovar.settings.model import ModelSettings
from samovar.settings.tasks import EpisodeSettings
from samovar.settings.training import OptimizerSettings
from samovar.training.optimization import decay_and_clip, make_optimizer

FLIP = AugmentationSettings(flip=True)
CASES: dict[str, tuple[ModelSettings, EpisodeSettings, int]] = {
    "conv4-28": (ModelSettings(channels=1, size=28), EpisodeSettings(20, 1, 5), 2),
    "conv4-32": (ModelSettings(size=32), EpisodeSettings(5, 5, 8), 4),
    "resnet12-32": (
        ModelSettings(backbone="resnet12", classifier="cosine", size=32),
        EpisodeSettings(5, 5, 32, pooled_queries=True),
        2,
    ),
    "resnet12-32-quarter-width": (
        ModelSettings(backbone="resnet12", classifier="cosine", size=32, width=16),
        EpisodeSettings(5, 5, 32, pooled_queries=True),
        2,
    ),
    "resnet12-32-quarter-width-ten": (
        ModelSettings(
            backbone="resnet12", classifier="cosine", size=32, width=16, task_embedding=True
        ),
        EpisodeSettings(5, 5, 32, pooled_queries=True),
        2,
    ),
}


@dataclass
class Arguments:
    """What to time."""

    updates: int = 15
    """Updates of each kind; they take turns, and medians count."""
    growth: bool = True
    """Also measure how time and memory grow."""
    usual: str = ""
    """Internal: time the usual way for one case and print it."""


class Bench:
    """Our training of one case on random images."""

    def __init__(
        self, model: ModelSettings, episodes: EpisodeSettings, tasks: int, folder: Path
    ) -> None:
        rng = np.random.default_rng(0)
        shape = (model.size, model.size, model.channels)
        names = [str(i) for i in range(64)]
        contents = Contents(
            [ClassEntry(name, 60) for name in names],
            shape,
            lambda _: rng.integers(0, 256, (60, *shape)),
            {"all": {"train": names}},
            options={"size": model.size},
        )
        store = write_store(
            f"random{model.size}", {"title": "", "licence": "", "citation": ""}, contents, folder
        )
        self.dataset = Dataset(store)
        self.settings, self.tasks = OptimizerSettings(), tasks
        self.source = BatchSource(
            self.dataset, Normalization.standard(store), torch.device("cpu"), 0, FLIP
        )
        self.sampler = EpisodeSampler(self.dataset, episodes, 0, group=tasks)
        self.model = FewShotModel(model).to(memory_format=torch.channels_last).train()
        self.optimizer = make_optimizer(self.model.parameters(), self.settings)
        self.named = [(parameter, 0.0) for parameter in self.model.parameters()]

    def batch(self, step: int) -> TaskBatch:
        """The tasks of an update."""
        return self.source.tasks(self.sampler, step, range(self.tasks))

    def update(self, step: int) -> None:
        """One whole update: batch, loss, gradients, step."""
        output = self.model(self.batch(step), TaskNoise(0, step, range(self.tasks)))
        self.optimizer.zero_grad()
        output.loss.backward()
        decay_and_clip(self.named, self.settings)
        self.optimizer.step()

    def bare(self, batch: TaskBatch, passes: int) -> None:
        """Forward and backward of the backbone alone, on the same images, `passes` times."""
        self.optimizer.zero_grad()
        for _ in range(passes):
            for images in (batch.support, batch.query):
                self.model.backbone(images.flatten(0, 1), len(images)).sum().backward()


def taking_turns(
    first: Callable[[int], None], second: Callable[[int], None], repeats: int
) -> tuple[float, float]:
    """Median seconds of two kinds of work that take turns, so that noise hits both."""
    times: tuple[list[float], list[float]] = ([], [])
    for step in range(repeats + 2):
        for work, record in zip((first, second), times, strict=True):
            start = time.perf_counter()
            work(step)
            record.append(time.perf_counter() - start)
    return statistics.median(times[0][2:]), statistics.median(times[1][2:])


def against_bare(name: str, updates: int, folder: Path) -> dict[str, Any]:
    """Images per second of training and of the bare passes."""
    bench = Bench(*CASES[name], folder)
    batch, passes = bench.batch(0), 2 if bench.model.task_embedding is not None else 1
    ours, bare = taking_turns(bench.update, lambda _: bench.bare(batch, passes), updates)
    images = batch.support_labels.numel() + batch.query_labels.numel()
    return {
        "images_per_update": images,
        "training_images_per_second": round(images / ours, 1),
        "bare_images_per_second": round(images / bare, 1),
        "share_of_bare": round(bare / ours, 3),
    }


def usual_way(name: str, updates: int, folder: Path) -> dict[str, float]:
    """The same updates as one would first write them: a DataLoader of single images, a loop over tasks."""
    bench = Bench(*CASES[name], folder)
    model = bench.model.to(memory_format=torch.contiguous_format)
    everything = (
        bench.dataset.gather(np.arange(len(bench.dataset.store.array)))
        .permute(0, 3, 1, 2)
        .contiguous()
    )
    mean, std = (
        torch.tensor(values)[:, None, None]
        for values in (bench.source.normalisation.mean, bench.source.normalisation.std)
    )

    def load(indices: np.ndarray) -> Tensor:
        loader = DataLoader(
            TensorDataset(everything), batch_sampler=[indices.tolist()], collate_fn=collate
        )
        return next(iter(loader))

    def collate(items: list[tuple[Tensor]]) -> Tensor:
        flipped = [item[0].flip(-1) if torch.rand(()) < 0.5 else item[0] for item in items]
        return torch.stack([(image / 255 - mean) / std for image in flipped])

    def update(step: int) -> None:
        episodes, losses = bench.sampler.draw(step * bench.tasks, bench.tasks), []
        for task in range(bench.tasks):
            support, query = load(episodes.support[task]), load(episodes.query[task])
            labels = (
                torch.tensor(each[task][None])
                for each in (episodes.support_labels, episodes.query_labels)
            )
            support_labels, query_labels = labels
            batch = TaskBatch(
                support[None], support_labels, query[None], query_labels, episodes.classes.shape[1]
            )
            losses.append(model(batch, TaskNoise(0, step, [task])).loss)
        bench.optimizer.zero_grad()
        torch.stack(losses).mean().backward()
        bench.optimizer.step()

    seconds = []
    for step in range(updates + 2):
        start = time.perf_counter()
        update(step)
        seconds.append(time.perf_counter() - start)
    return {"seconds": statistics.median(seconds[2:])}


def growth(folder: Path, updates: int) -> list[dict[str, Any]]:
    """An update as one quantity grows, from CONV-4 at 32 pixels, 5-way 1-shot, 8 queries, 2 tasks, L = 10."""
    base, episodes = ModelSettings(size=32), EpisodeSettings(5, 1, 8)
    variants = {
        "base": (base, episodes, 2),
        "way x 2": (base, replace(episodes, way=10), 2),
        "shot x 8": (base, replace(episodes, shot=8), 2),
        "tasks x 2": (base, episodes, 4),
        "L x 10": (replace(base, samples=100), episodes, 2),
        "size x 2": (replace(base, size=64, backbone="conv5"), episodes, 2),
    }
    found = []
    for name, (model, shape, tasks) in variants.items():
        bench = Bench(model, shape, tasks, folder)
        ours, _ = taking_turns(bench.update, lambda _: None, updates)
        batch = bench.batch(0)
        images = batch.support_labels.numel() + batch.query_labels.numel()
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
        found.append(
            {
                "what": name,
                "images": images,
                "milliseconds": round(1000 * ours, 1),
                "peak_megabytes_so_far": round(peak),
            }
        )
    return found


def main(arguments: Arguments) -> None:
    """Time everything and print it."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        if arguments.usual:
            print(json.dumps(usual_way(arguments.usual, arguments.updates, folder)))
            return
        tune_allocator()
        result: dict[str, Any] = {
            "threads": torch.get_num_threads(),
            "against_bare": {},
            "against_usual": {},
        }
        if arguments.growth:
            result["growth"] = growth(folder, arguments.updates)
        for case in CASES:
            result["against_bare"][case] = against_bare(case, arguments.updates, folder)
        for case in ("conv4-28", "conv4-32"):
            command = [
                sys.executable,
                __file__,
                "--usual",
                case,
                "--updates",
                str(arguments.updates),
            ]
            usual = json.loads(
                subprocess.run(command, capture_output=True, text=True, check=True).stdout
            )
            ours = (
                result["against_bare"][case]["images_per_update"]
                / result["against_bare"][case]["training_images_per_second"]
            )
            result["against_usual"][case] = {"usual_over_ours": round(usual["seconds"] / ours, 2)}
        print(json.dumps(result, indent=1))


if __name__ == "__main__":
    main(tyro.cli(Arguments))
