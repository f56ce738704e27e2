"""Noise that models are given, in training and in prediction; none of it is hidden state.

In training each task has its own noise, in whichever process and batch it is. In prediction the
samples of the classifier come in blocks: `PredictionNoise` is what a classifier may ask for, and
`samovar.prediction.sampling_noise` draws it.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Protocol

import torch
from torch import Tensor

from samovar.core.randomness import torch_generator


class TaskNoise:
    """Noise of the tasks of one update, as a function of (seed, step, task, purpose)."""

    def __init__(
        self, seed: int, step: int, tasks: Sequence[int], device: torch.device | str = "cpu"
    ) -> None:
        self.seed = seed
        self.step = step
        self.tasks = tasks
        self.device = device

    def generators(self, purpose: str) -> list[torch.Generator]:
        """Return one generator for each task."""
        generators = []
        for task in self.tasks:
            generator = torch_generator(self.seed, purpose, self.step, task, device=self.device)
            generators.append(generator)
        return generators

    def normal(self, purpose: str, *shape: int) -> Tensor:
        """Draw standard normal numbers (T, *shape)."""
        draws = []
        for generator in self.generators(purpose):
            draws.append(torch.randn(shape, generator=generator, device=self.device))
        return torch.stack(draws)


@dataclass(frozen=True)
class SampleBlock:
    """Samples `first` .. `first + count - 1` of the classifier, which are drawn together."""

    first: int
    count: int
    device: torch.device


@dataclass(frozen=True)
class WeightNoise:
    """Standard normal numbers (sequences, L, dimension); weights have a sequence for each class."""

    epsilon: Tensor

    @cached_property
    def squares(self) -> Tensor:
        """The squares of epsilon, computed once for all tasks that share it."""
        return self.epsilon.square()


class PredictionNoise(Protocol):
    """The noise of sampled classifiers; `task` is a position among the tasks at hand."""

    def logits(self, task: int, block: SampleBlock, way: int) -> Tensor:
        """Draw noise (N, L) for sampled logits, common to all queries of a task."""

    def weights(self, task: int, block: SampleBlock, way: int, dim: int) -> WeightNoise:
        """Draw noise (N, L, d) for sampled weights."""

    def temperature_shares(self, task: int, block: SampleBlock) -> Tensor:
        """Draw (L,) evenly spaced quantiles in random order, for temperatures of samples."""
