"""Time making a batch, against a training step and against the usual code; prints JSON.

The usual code is a Dataset that opens image files and a DataLoader that is given the same episodes.

    python benchmarks/data.py --data cifar_fs     (prepare it first; glyphs needs no preparation)
"""

import json
import statistics
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import torch
import tyro
from PIL import Image
from torch import Tensor, nn
from torch.utils.data import DataLoader

from samovar.core.allocator import tune_allocator
from samovar.data.augmentation import augment, augmentation_noise
from samovar.data.dataset import Dataset
from samovar.data.episodes import Episodes, EpisodeSampler
from samovar.data.normalization import Normalization, network_input
from samovar.data.preparation import prepare
from samovar.settings.data import AugmentationSettings
from samovar.settings.tasks import EpisodeSettings


@dataclass
class Arguments:
    """What to time."""

    data: str = "glyphs"
    """A prepared data set with images."""
    tasks: int = 4
    """Tasks in a batch."""
    shot: int = 5
    """Shots."""
    queries: int = 15
    """Queries per class."""
    batches: int = 10
    """Batches to time; the median counts."""
    workers: int = 2
    """Worker processes of the DataLoader, beside a run without any."""


class ImageFiles(torch.utils.data.Dataset[Tensor]):
    """Image files that are opened, flipped and normalised one by one."""

    def __init__(self, folder: Path, normalisation: Normalization) -> None:
        self.folder = folder
        self.normalisation = normalisation

    def __getitem__(self, index: int) -> Tensor:
        """Return one image (C, H, W)."""
        with Image.open(self.folder / f"{index}.png") as image:
            array = np.array(image)
        tensor = torch.from_numpy(array.reshape(*array.shape[:2], -1)).permute(2, 0, 1) / 255
        if torch.rand(()) < 0.5:
            tensor = tensor.flip(-1)
        mean = torch.tensor(self.normalisation.mean)[:, None, None]
        std = torch.tensor(self.normalisation.std)[:, None, None]
        return (tensor - mean) / std


def conv4(channels: int) -> nn.Module:
    """Return four blocks of 64 filters, in channels_last."""
    layers: list[nn.Module] = []
    for _ in range(4):
        layers.append(nn.Conv2d(channels, 64, 3, padding=1, bias=False))
        layers.append(nn.BatchNorm2d(64))
        layers.append(nn.ReLU())
        layers.append(nn.MaxPool2d(2, ceil_mode=True))
        channels = 64
    network = nn.Sequential(*layers, nn.AdaptiveAvgPool2d(1), nn.Flatten())
    return network.to(memory_format=torch.channels_last)


def median_seconds(work: Callable[[int], object], repeats: int) -> float:
    """Return the median time of work(number), after one call that does not count."""
    work(0)
    times = []
    for number in range(repeats):
        start = time.perf_counter()
        work(number)
        times.append(time.perf_counter() - start)
    return statistics.median(times)


def all_images(episodes: Episodes) -> np.ndarray:
    """Return the indices of support and query of all tasks."""
    return np.concatenate([episodes.support, episodes.query], 1)


def save_files(dataset: Dataset, indices: np.ndarray, folder: Path) -> None:
    """Save the images as PNG files."""
    for index in np.unique(indices):
        image = dataset.gather(np.array([index]))[0].numpy().squeeze()
        Image.fromarray(image).save(folder / f"{index}.png")


def time_ours(
    sampler: EpisodeSampler, normalisation: Normalization, arguments: Arguments
) -> tuple[float, Tensor]:
    """Return the seconds that a batch takes us, and a batch."""
    flip = AugmentationSettings(flip=True)
    tasks = arguments.tasks

    def make_batch(step: int) -> Tensor:
        indices = all_images(sampler.draw(step * tasks, tasks))
        noise = augmentation_noise(0, step, range(tasks), indices.shape[1], "training")
        images = augment(sampler.dataset.gather(indices), flip, noise)
        return network_input(images, normalisation)

    return median_seconds(make_batch, arguments.batches), make_batch(0)


def time_step(batch: Tensor, arguments: Arguments) -> float:
    """Return the seconds of a training step of CONV-4 on a batch."""
    model = conv4(batch.shape[1])
    labels = torch.zeros(len(batch), dtype=torch.long)

    def train(_: int) -> None:
        nn.functional.cross_entropy(model(batch), labels).backward()

    return median_seconds(train, arguments.batches)


def time_usual(
    sampler: EpisodeSampler, normalisation: Normalization, arguments: Arguments
) -> dict[int, float]:
    """Return the seconds that a batch takes a DataLoader, by its number of workers."""
    tasks = arguments.tasks
    episodes = []
    for number in range(arguments.batches + 1):  # one more for the call that does not count
        episodes.append(all_images(sampler.draw(number * tasks, tasks)).reshape(-1))
    seconds = {}
    with tempfile.TemporaryDirectory() as name:
        save_files(sampler.dataset, np.concatenate(episodes), Path(name))
        images = ImageFiles(Path(name), normalisation)
        for workers in (0, arguments.workers):
            # The same batches in the same order, as one epoch of a loader.
            batches = iter(DataLoader(images, batch_sampler=episodes, num_workers=workers))
            seconds[workers] = median_seconds(
                lambda _, batches=batches: next(batches), arguments.batches
            )
    return seconds


def main(arguments: Arguments) -> None:
    """Time the three and print them."""
    dataset = Dataset(prepare(arguments.data))
    settings = EpisodeSettings(5, arguments.shot, arguments.queries)
    sampler = EpisodeSampler(dataset, settings, seed=0)
    normalisation = Normalization.standard(dataset.store)
    ours, batch = time_ours(sampler, normalisation, arguments)
    step = time_step(batch, arguments)
    result: dict[str, object] = {
        "data": dataset.description,
        "images_per_batch": len(batch),
        "batch_ms": round(1000 * ours, 3),
        "conv4_step_ms": round(1000 * step, 3),
        "batch_share_of_step": round(ours / step, 3),
    }
    for workers, usual in time_usual(sampler, normalisation, arguments).items():
        result[f"dataloader_{workers}_workers_ms"] = round(1000 * usual, 3)
        result[f"times_faster_than_{workers}_workers"] = round(usual / ours, 3)
    result["threads"] = torch.get_num_threads()
    print(json.dumps(result, indent=1))


if __name__ == "__main__":
    tune_allocator()
    main(tyro.cli(Arguments))
