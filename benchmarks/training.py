"""Time training: against the bare backbone, against the usual code, and as it grows; prints JSON.

    python benchmarks/training.py
    python benchmarks/training.py --updates 1 --no-growth     (a quick look)

Images are random, in the official shapes; no data is needed. Bare is forward and backward of the
same backbone on the same images, with the same memory format, threads and allocator; with TEN it is
the bare passes that TEN needs (support and query, plain and conditioned). The usual code has the
default allocator and memory format, a DataLoader over single images and a loop over tasks; it runs
in a separate process, since allocator settings last.
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
from samovar.data.store import ClassEntry, Contents, Store
from samovar.data.store_writer import write_store
from samovar.models.few_shot_model import FewShotModel
from samovar.models.noise import TaskNoise
from samovar.settings.data import AugmentationSettings
from samovar.settings.model import ModelSettings
from samovar.settings.tasks import EpisodeSettings
from samovar.settings.training import OptimizerSettings
from samovar.training.optimization import decay_and_clip, make_optimizer

RESNET = ModelSettings(backbone="resnet12", classifier="cosine", size=32)
POOLED = EpisodeSettings(5, 5, 32, pooled_queries=True)


@dataclass(frozen=True)
class Case:
    """A training to be timed."""

    model: ModelSettings
    episodes: EpisodeSettings
    tasks: int = 2
    """Tasks in an update."""


CASES = {
    "conv4-28": Case(ModelSettings(channels=1, size=28), EpisodeSettings(20, 1, 5)),
    "conv4-32": Case(ModelSettings(size=32), EpisodeSettings(5, 5, 8), tasks=4),
    "conv4-32-episode-norm-dropout": Case(
        ModelSettings(size=32, norm="episode", dropout=0.5), EpisodeSettings(5, 5, 15), tasks=4
    ),
    "resnet12-32": Case(RESNET, POOLED),
    "resnet12-32-quarter-width": Case(replace(RESNET, width=16), POOLED),
    "resnet12-32-quarter-width-ten": Case(replace(RESNET, width=16, task_embedding=True), POOLED),
}


@dataclass
class Arguments:
    """What to time."""

    updates: int = 15
    """Updates of each kind; they take turns, and medians count."""
    growth: bool = True
    """Also measure how time and memory grow."""
    usual: str = ""
    """Internal: time the usual code for one case and print it."""


class Bench:
    """Our training of one case on random images."""

    def __init__(self, case: Case, folder: Path) -> None:
        store = random_store(case.model, folder)
        self.dataset = Dataset(store)
        self.settings = OptimizerSettings()
        self.tasks = case.tasks
        self.source = BatchSource(
            self.dataset,
            Normalization.standard(store),
            torch.device("cpu"),
            0,
            AugmentationSettings(flip=True),
        )
        self.sampler = EpisodeSampler(self.dataset, case.episodes, 0, group=case.tasks)
        self.model = FewShotModel(case.model).to(memory_format=torch.channels_last).train()
        self.optimizer = make_optimizer(self.model.parameters(), self.settings)
        self.decays = [(parameter, 0.0) for parameter in self.model.parameters()]

    def batch(self, step: int) -> TaskBatch:
        """Make the tasks of an update."""
        return self.source.tasks(self.sampler, step, range(self.tasks))

    def update(self, step: int) -> None:
        """Do one whole update: batch, loss, gradients, step."""
        output = self.model(self.batch(step), TaskNoise(0, step, range(self.tasks)))
        self.optimizer.zero_grad()
        output.loss.backward()
        decay_and_clip(self.decays, self.settings)
        self.optimizer.step()

    def bare(self, batch: TaskBatch, passes: int) -> None:
        """Run the backbone alone forward and backward on the same images, `passes` times."""
        self.optimizer.zero_grad()
        for _ in range(passes):
            for images in (batch.support, batch.query):
                self.model.backbone(images.flatten(0, 1), len(images)).sum().backward()


def random_store(model: ModelSettings, folder: Path) -> Store:
    """Write 64 classes of 60 random images in the shape that a model takes."""
    noise = np.random.default_rng(0)
    shape = (model.size, model.size, model.channels)
    names = [str(number) for number in range(64)]
    contents = Contents(
        [ClassEntry(name, 60) for name in names],
        shape,
        lambda _: noise.integers(0, 256, (60, *shape)),
        {"all": {"train": names}},
        options={"size": model.size},
    )
    facts = {"title": "", "licence": "", "citation": ""}
    return write_store(f"random{model.size}", facts, contents, folder)


def image_count(batch: TaskBatch) -> int:
    """Count the images of an update."""
    return batch.support_labels.numel() + batch.query_labels.numel()


def taking_turns(
    first: Callable[[int], None], second: Callable[[int], None], repeats: int
) -> tuple[float, float]:
    """Return the median seconds of two kinds of work that take turns, so that noise hits both."""
    times: tuple[list[float], list[float]] = ([], [])
    for step in range(repeats + 2):
        for work, record in zip((first, second), times, strict=True):
            start = time.perf_counter()
            work(step)
            record.append(time.perf_counter() - start)
    # The first two updates fill caches and allocate memory.
    return statistics.median(times[0][2:]), statistics.median(times[1][2:])


def against_bare(name: str, updates: int, folder: Path) -> dict[str, Any]:
    """Return the images per second of training and of the bare passes."""
    bench = Bench(CASES[name], folder)
    batch = bench.batch(0)
    passes = 1
    if CASES[name].model.task_embedding:  # plain, and conditioned on the task
        passes = 2
    ours, bare = taking_turns(bench.update, lambda _: bench.bare(batch, passes), updates)
    images = image_count(batch)
    return {
        "images_per_update": images,
        "training_images_per_second": round(images / ours, 1),
        "bare_images_per_second": round(images / bare, 1),
        "share_of_bare": round(bare / ours, 3),
    }


class UsualTraining:
    """The same updates as one would first write them: a DataLoader of images, a loop over tasks."""

    def __init__(self, bench: Bench) -> None:
        self.bench = bench
        self.model = bench.model.to(memory_format=torch.contiguous_format)
        everything = bench.dataset.gather(np.arange(len(bench.dataset.store.array)))
        self.images = TensorDataset(everything.permute(0, 3, 1, 2).contiguous())
        normalisation = bench.source.normalisation
        self.mean = torch.tensor(normalisation.mean)[:, None, None]
        self.std = torch.tensor(normalisation.std)[:, None, None]

    def load(self, indices: np.ndarray) -> Tensor:
        """Load images by index."""
        loader = DataLoader(self.images, batch_sampler=[indices.tolist()], collate_fn=self.collate)
        return next(iter(loader))

    def collate(self, items: list[tuple[Tensor]]) -> Tensor:
        """Flip and normalise images one by one."""
        images = []
        for (image,) in items:
            if torch.rand(()) < 0.5:
                image = image.flip(-1)
            images.append((image / 255 - self.mean) / self.std)
        return torch.stack(images)

    def update(self, step: int) -> None:
        """Do one whole update, task after task."""
        bench = self.bench
        episodes = bench.sampler.draw(step * bench.tasks, bench.tasks)
        losses = []
        for task in range(bench.tasks):
            batch = TaskBatch(
                self.load(episodes.support[task])[None],
                torch.tensor(episodes.support_labels[task][None]),
                self.load(episodes.query[task])[None],
                torch.tensor(episodes.query_labels[task][None]),
                episodes.classes.shape[1],
            )
            losses.append(self.model(batch, TaskNoise(0, step, [task])).loss)
        bench.optimizer.zero_grad()
        torch.stack(losses).mean().backward()
        bench.optimizer.step()


def time_usual(name: str, updates: int, folder: Path) -> dict[str, float]:
    """Return the median seconds of an update of the usual code."""
    usual = UsualTraining(Bench(CASES[name], folder))
    seconds = []
    for step in range(updates + 2):
        start = time.perf_counter()
        usual.update(step)
        seconds.append(time.perf_counter() - start)
    return {"seconds": statistics.median(seconds[2:])}


def against_usual(name: str, updates: int, images_per_second: float, images: int) -> float:
    """Return how many times longer the usual code takes; it is timed in a separate process."""
    command = [sys.executable, __file__, "--usual", name, "--updates", str(updates)]
    finished = subprocess.run(command, capture_output=True, text=True, check=True)
    return json.loads(finished.stdout)["seconds"] / (images / images_per_second)


def growth(folder: Path, updates: int) -> list[dict[str, Any]]:
    """Time an update as one quantity grows.

    It starts from CONV-4 at 32 pixels, 5-way 1-shot, 8 queries, 2 tasks, L = 10.
    """
    base = Case(ModelSettings(size=32), EpisodeSettings(5, 1, 8))
    variants = {
        "base": base,
        "way x 2": replace(base, episodes=replace(base.episodes, way=10)),
        "shot x 8": replace(base, episodes=replace(base.episodes, shot=8)),
        "tasks x 2": replace(base, tasks=4),
        "L x 10": replace(base, model=replace(base.model, samples=100)),
        "size x 2": replace(base, model=replace(base.model, size=64, backbone="conv5")),
    }
    rows = []
    for name, case in variants.items():
        bench = Bench(case, folder)
        ours, _ = taking_turns(bench.update, lambda _: None, updates)
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
        row = {
            "what": name,
            "images": image_count(bench.batch(0)),
            "milliseconds": round(1000 * ours, 1),
            "peak_megabytes_so_far": round(peak),
        }
        rows.append(row)
    return rows


def measure(arguments: Arguments, folder: Path) -> dict[str, Any]:
    """Time everything."""
    result: dict[str, Any] = {
        "threads": torch.get_num_threads(),
        "against_bare": {},
        "against_usual": {},
    }
    if arguments.growth:
        result["growth"] = growth(folder, arguments.updates)
    for name in CASES:
        result["against_bare"][name] = against_bare(name, arguments.updates, folder)
    for name in ("conv4-28", "conv4-32"):
        ours = result["against_bare"][name]
        ratio = against_usual(
            name,
            arguments.updates,
            ours["training_images_per_second"],
            ours["images_per_update"],
        )
        result["against_usual"][name] = {"usual_over_ours": round(ratio, 2)}
    return result


def main(arguments: Arguments) -> None:
    """Time everything and print it."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        if arguments.usual:
            print(json.dumps(time_usual(arguments.usual, arguments.updates, folder)))
            return
        # Only here: the usual code above keeps the default allocator.
        tune_allocator()
        print(json.dumps(measure(arguments, folder), indent=1))


if __name__ == "__main__":
    main(tyro.cli(Arguments))
