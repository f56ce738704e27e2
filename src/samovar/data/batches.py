"""Batches of tasks and of auxiliary images, ready for the network.

A batch is a function of (seed, step, task). Processes may therefore share the tasks of an update
among themselves as they like, and a run that was interrupted goes on with the same batches.
"""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import torch
from torch import Tensor

from samovar.core.randomness import generator
from samovar.data.augmentation import augment, augmentation_noise
from samovar.data.dataset import Dataset, Indices
from samovar.data.episodes import EpisodeSampler
from samovar.data.normalization import Normalization, network_input
from samovar.settings.data import AugmentationSettings


class TaskBatch(NamedTuple):
    """T tasks of `way` classes, with S support and M query images (or feature vectors) each."""

    support: Tensor
    """(T, S, ...)"""
    support_labels: Tensor
    """(T, S), from 0 to way - 1"""
    query: Tensor
    """(T, M, ...)"""
    query_labels: Tensor
    """(T, M), from 0 to way - 1"""
    way: int


class AuxiliaryBatch(NamedTuple):
    """Images of the training classes for auxiliary co-training."""

    images: Tensor
    """(B, ...)"""
    labels: Tensor
    """(B,), positions of the classes in the data set"""


@dataclass(frozen=True)
class BatchSource:
    """Makes batches of a data set on a device; `augmentation` is for training only."""

    dataset: Dataset
    normalisation: Normalization
    device: torch.device
    seed: int
    augmentation: AugmentationSettings | None = None

    def inputs(self, indices: Indices, noise: Tensor | None = None) -> Tensor:
        """Return network input (T, n, ...) of the images at (T, n) indices.

        With noise (T, n, 6) the images are augmented.
        """
        images = self.dataset.gather(indices).to(self.device, non_blocking=True)
        if images.ndim == 3:  # feature vectors (T, n, d)
            return self.normalisation(images.flatten(0, 1)).view(images.shape)
        if noise is not None and self.augmentation is not None:
            images = augment(images, self.augmentation, noise)
        return network_input(images, self.normalisation).unflatten(0, indices.shape)

    def tasks(self, sampler: EpisodeSampler, step: int, tasks: range) -> TaskBatch:
        """Return these tasks of an update, which has `sampler.group` tasks in all."""
        episodes = sampler.draw(step * sampler.group + tasks.start, len(tasks))
        support_noise = self._noise(step, tasks, episodes.support.shape[1], "support")
        query_noise = self._noise(step, tasks, episodes.query.shape[1], "query")
        return TaskBatch(
            support=self.inputs(episodes.support, support_noise),
            support_labels=torch.tensor(episodes.support_labels, device=self.device),
            query=self.inputs(episodes.query, query_noise),
            query_labels=torch.tensor(episodes.query_labels, device=self.device),
            way=episodes.classes.shape[1],
        )

    def auxiliary(self, step: int, count: int) -> AuxiliaryBatch:
        """Return images drawn uniformly from all classes, with replacement, labelled by class."""
        counts = self.dataset.counts
        # Number the images of all classes from 0 on; class c ends before ends[c].
        ends = np.cumsum(counts)
        drawn = generator(self.seed, "auxiliary images", step).integers(ends[-1], size=count)
        labels = np.searchsorted(ends, drawn, side="right")
        within_class = drawn - (ends[labels] - counts[labels])
        indices = self.dataset.starts[labels] + within_class
        noise = self._noise(step, range(1), count, "auxiliary")
        images = self.inputs(indices[None], noise)[0]
        return AuxiliaryBatch(images, torch.from_numpy(labels).to(self.device))

    def _noise(self, step: int, tasks: range, images: int, purpose: str) -> Tensor | None:
        # Settings without any augmentation need no noise, which takes time to draw.
        if self.augmentation is None or self.augmentation == AugmentationSettings():
            return None
        return augmentation_noise(self.seed, step, tasks, images, purpose)
