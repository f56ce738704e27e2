"""Noise of the tasks of one update: each task has its own, wherever and beside whichever others it is processed."""

from collections.abc import Sequence

import torch
from torch import Tensor

from samovar.core.randomness import torch_generator


class TaskNoise:
    """Generators and normal draws as a function of (seed, step, task, purpose)."""

    def __init__(
        self, seed: int, step: int, tasks: Sequence[int], device: torch.device | str = "cpu"
    ) -> None:
        self.seed, self.step, self.tasks, self.device = seed, step, tasks, device

    def generators(self, purpose: str) -> list[torch.Generator]:
        """One for each task."""
        return [
            torch_generator(self.seed, purpose, self.step, task, device=self.device)
            for task in self.tasks
        ]

    def normal(self, purpose: str, *shape: int) -> Tensor:
        """Standard normal numbers (T, *shape)."""
        drawn = [
            torch.randn(shape, generator=each, device=self.device)
            for each in self.generators(purpose)
        ]
        return torch.stack(drawn)
