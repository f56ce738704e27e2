"""The noise of prediction, plain or quasi-random, as a function of (seed, task, block of samples)."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache

import torch
from torch import Tensor
from torch.quasirandom import SobolEngine

from samovar.core.randomness import generator, torch_generator

BANK = 20
"""Tasks that share one bank of noise where it has a number for every weight: drawing it is the larger cost there."""


@dataclass(frozen=True)
class Bank:
    """Standard normal numbers (sequences, L, dimension), and their squares for those who need them too."""

    epsilon: Tensor

    @cached_property
    def squares(self) -> Tensor:
        """epsilon ** 2, made once for all tasks of the bank."""
        return self.epsilon.square()


@dataclass(frozen=True)
class PredictiveNoise:
    """Whose noise: the numbers of the tasks, under a seed. `quasi`: scrambled Sobol points instead of random ones."""

    seed: int
    tasks: Sequence[int]
    quasi: bool = False

    def logits(self, position: int, block: "Block", way: int) -> Tensor:
        """Noise (N, L) of one task for sampled logits, common to its queries as a sampled classifier is."""
        dimension = min(way, SobolEngine.MAXDIM)  # more classes take several sequences
        sequences = -(-way // dimension)
        bank = _bank(
            self.seed, self.quasi, self.tasks[position], block, sequences, dimension, "logits"
        )
        return bank.epsilon.mT.flatten(0, 1)[:way]

    def weights(self, position: int, block: "Block", way: int, dim: int) -> Bank:
        """Noise (N, L, d) for sampled weights, common to BANK consecutive tasks."""
        return _bank(
            self.seed, self.quasi, self.tasks[position] // BANK, block, way, dim, "weights"
        )


@dataclass(frozen=True)
class Block:
    """Samples `first` .. `first + count - 1`, which are drawn together."""

    first: int
    count: int
    device: torch.device


@lru_cache(maxsize=1)
def _bank(
    seed: int, quasi: bool, number: int, block: Block, sequences: int, dimension: int, purpose: str
) -> Bank:
    if not quasi:
        source = torch_generator(
            seed, f"predictive {purpose}", number, block.first, device=block.device
        )
        return Bank(
            torch.randn(sequences, block.count, dimension, generator=source, device=block.device)
        )
    shift = generator(seed, f"quasi-random shift {purpose}", number).random(
        (sequences, 1, dimension)
    )
    points = _points(seed, block.first, block.count, sequences, dimension)
    uniform = (points + torch.from_numpy(shift).float()).remainder(1.0)
    tiny = torch.finfo(torch.float32).eps
    return Bank(torch.special.ndtri(uniform.clamp(tiny / 2, 1 - tiny)).to(block.device))


@lru_cache(maxsize=8)
def _points(seed: int, first: int, count: int, sequences: int, dimension: int) -> Tensor:
    """Points (sequences, count, dimension) of scrambled Sobol sequences, one for each class where weights are sampled.

    The points of each sequence are shuffled within a block (a power of two of them, which by itself fills the space
    evenly): point l of two scrambled sequences is the same point in disguise, and classifiers made of such pairs would
    not be independent across classes. One sequence over all N d numbers would not do, torch's stop at 21,201
    dimensions. Every task or bank shifts the common points by an amount of its own, modulo 1: with one set for all, its
    error would not average out over tasks.
    """
    order = generator(seed, "quasi-random order", first)
    drawn = []
    for engine_seed in generator(seed, "quasi-random").integers(2**31, size=sequences):
        engine = SobolEngine(dimension, scramble=True, seed=int(engine_seed))
        if first:
            engine.fast_forward(first)
        drawn.append(engine.draw(count)[order.permutation(count)])
    return torch.stack(drawn)
