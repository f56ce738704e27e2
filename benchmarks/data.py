"""What a batch costs: against the training step that uses it, and against the usual way of making it. Prints JSON.

The usual way is a Dataset that opens an image file and a DataLoader that is given the same episodes.

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
    """Time making batches."""

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
    """Opens an image file for each index, flips and normalises it."""

    def __init__(self, folder: Path, normalisation: Normalization) -> None:
        self.folder, self.normalisation = folder, normalisation

    def __getitem__(self, index: int) -> Tensor:
        """One image (C, H, W)."""
        with Image.open(self.folder / f"{index}.png") as image:
            array = np.array(image)
        tensor = torch.from_numpy(array.reshape(*array.shape[:2], -1)).permute(2, 0, 1) / 255
        if torch.rand(()) < 0.5:
            tensor = tensor.flip(-1)
        mean, std = (
            torch.tensor(values)[:, None, None]
            for values in (self.normalisation.mean, self.normalisation.std)
        )
        return (tensor - mean) / std


def conv4(channels: int) -> nn.Module:
    """Four blocks of 64 filters, in channels_last."""
    blocks: list[nn.Module] = []
    for i in range(4):
        blocks += [
            nn.Conv2d(64 if i else channels, 64, 3, padding=1, bias=False),
            nn.BatchNorm2d(64),
            nn.ReLU(),
        ]
        blocks += [nn.MaxPool2d(2, ceil_mode=True)]
    return nn.Sequential(*blocks, nn.AdaptiveAvgPool2d(1), nn.Flatten()).to(
        memory_format=torch.channels_last
    )


def median_seconds(work: Callable[[int], object], repeats: int) -> float:
    """Median time of work(i), after one call that does not count."""
    work(0)
    times = []
    for i in range(repeats):
        start = time.perf_counter()
        work(i)
        times.append(time.perf_counter() - start)
    return statistics.median(times)


def all_images(episodes: Episodes) -> np.ndarray:
    """Indices of support and query of all tasks."""
    return np.concatenate([episodes.support, episodes.query], 1)


def save_files(dataset: Dataset, indices: np.ndarray, folder: Path) -> None:
    """The images as PNG files."""
    for index in np.unique(indices):
        Image.fromarray(dataset.gather(np.array([index]))[0].numpy().squeeze()).save(
            folder / f"{index}.png"
        )


def main(arguments: Arguments) -> None:
    """Time the three and print them."""
    dataset = Dataset(prepare(arguments.data))
    settings = EpisodeSettings(5, arguments.shot, arguments.queries)
    sampler = EpisodeSampler(dataset, settings, seed=0)
    normalisation = Normalization.standard(dataset.store)
    flip, tasks = AugmentationSettings(flip=True), arguments.tasks

    def make_batch(step: int) -> Tensor:
        indices = all_images(sampler.draw(step * tasks, tasks))
        noise = augmentation_noise(0, step, range(tasks), indices.shape[1], "training")
        return network_input(augment(dataset.gather(indices), flip, noise), normalisation)

    batch = make_batch(0)
    model = conv4(batch.shape[1])

    def train(_: int) -> None:
        nn.functional.cross_entropy(
            model(batch), torch.zeros(len(batch), dtype=torch.long)
        ).backward()

    ours = median_seconds(make_batch, arguments.batches)
    step = median_seconds(train, arguments.batches)
    result = {"data": dataset.description, "images_per_batch": len(batch), "batch_ms": 1000 * ours}
    result |= {"conv4_step_ms": 1000 * step, "batch_share_of_step": ours / step}
    with tempfile.TemporaryDirectory() as name:
        episodes = [
            all_images(sampler.draw(i * tasks, tasks)).reshape(-1)
            for i in range(arguments.batches + 1)
        ]
        save_files(dataset, np.concatenate(episodes), Path(name))
        for workers in (0, arguments.workers):
            loader = DataLoader(
                ImageFiles(Path(name), normalisation), batch_sampler=episodes, num_workers=workers
            )
            batches = iter(loader)
            usual = median_seconds(lambda _, batches=batches: next(batches), arguments.batches)
            result |= {
                f"dataloader_{workers}_workers_ms": 1000 * usual,
                f"times_faster_than_{workers}_workers": usual / ours,
            }
    rounded = {
        key: round(value, 3) if isinstance(value, float) else value for key, value in result.items()
    }
    print(json.dumps(rounded | {"threads": torch.get_num_threads()}, indent=1))


if __name__ == "__main__":
    tune_allocator()
    main(tyro.cli(Arguments))
