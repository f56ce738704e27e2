"""Batches of tasks and of auxiliary images, ready for the network, as a function of (seed, step, task)."""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import torch
from torch import Tensor

from samovar.core.randomness import generator
from samovar.data.augmentation import augmentation_noise, network_input
from samovar.data.dataset import Dataset, Indices
from samovar.data.episodes import EpisodeSampler
from samovar.data.normalization import Normalization
from samovar.settings.data import AugmentationSettings


class TaskBatch(NamedTuple):
    """T tasks: support (T, S, ...) and query (T, M, ...), images or features; labels (T, S), (T, M) from 0 to N - 1."""

    support: Tensor
    support_labels: Tensor
    query: Tensor
    query_labels: Tensor
    way: int


class AuxiliaryBatch(NamedTuple):
    """Images (B, ...) of the training classes with their labels (B,), for auxiliary co-training."""

    images: Tensor
    labels: Tensor


@dataclass(frozen=True)
class BatchSource:
    """Makes batches of a data set on a device; with `augmentation` only for training."""

    dataset: Dataset
    normalisation: Normalization
    device: torch.device
    seed: int
    augmentation: AugmentationSettings | None = None

    def inputs(self, indices: Indices, noise: Tensor | None = None) -> Tensor:
        """Network input (T, n, ...) of images at (T, n) indices."""
        images = self.dataset.gather(indices).to(self.device, non_blocking=True)
        if images.ndim == 3:  # features
            return self.normalisation(images.flatten(0, 1)).view(images.shape)
        return network_input(images, self.normalisation, self.augmentation, noise).unflatten(
            0, indices.shape
        )

    def tasks(self, sampler: EpisodeSampler, step: int, tasks: range) -> TaskBatch:
        """Some tasks of an update; `sampler.group` is how many the whole update has."""
        episodes = sampler.draw(step * sampler.group + tasks.start, len(tasks))
        support, query = (
            self.inputs(indices, self._noise(step, tasks, indices.shape[1], purpose))
            for indices, purpose in ((episodes.support, "support"), (episodes.query, "query"))
        )
        support_labels, query_labels = (
            torch.tensor(labels, device=self.device)
            for labels in (episodes.support_labels, episodes.query_labels)
        )
        return TaskBatch(support, support_labels, query, query_labels, episodes.classes.shape[1])

    def auxiliary(self, step: int, count: int) -> AuxiliaryBatch:
        """Images drawn uniformly from all classes, with replacement, labelled by class."""
        noise = generator(self.seed, "auxiliary images", step)
        ends = np.cumsum(self.dataset.counts)
        drawn = noise.integers(ends[-1], size=count)
        labels = np.searchsorted(ends, drawn, side="right")
        indices = self.dataset.starts[labels] + drawn - (ends[labels] - self.dataset.counts[labels])
        images = self.inputs(indices[None], self._noise(step, range(1), count, "auxiliary"))
        return AuxiliaryBatch(images[0], torch.from_numpy(labels).to(self.device))

    def _noise(self, step: int, tasks: range, images: int, purpose: str) -> Tensor | None:
        if self.augmentation is None or self.augmentation == AugmentationSettings():
            return None
        return augmentation_noise(self.seed, step, tasks, images, purpose)
