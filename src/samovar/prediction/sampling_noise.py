"""The noise of prediction, random or quasi-random, as a function of (seed, task, block of samples).

A sampled classifier is common to all queries of its task, so its noise depends on the task and the
block of samples alone: never on batches, processes or the other queries.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import NamedTuple

import torch
from torch import Tensor
from torch.quasirandom import SobolEngine

from samovar.core.randomness import generator, torch_generator
from samovar.models.noise import SampleBlock, WeightNoise

MOST_KEPT = 2_000_000
"""Dimensions of all Sobol sequences that are kept, which take 128 bytes each."""
TASKS_PER_BANK = 20
"""Consecutive tasks that share the noise of sampled weights, which is costly to draw."""


@dataclass(frozen=True)
class PredictiveNoise:
    """The noise of the tasks with these numbers.

    With `quasi` it is made of scrambled Sobol points, which fill the space more evenly than random
    ones: far fewer of them are enough.
    """

    seed: int
    tasks: Sequence[int]
    quasi: bool = False

    def logits(self, task: int, block: SampleBlock, way: int) -> Tensor:
        """Draw noise (N, L) for the sampled logits of the task at a position."""
        dimension = min(way, SobolEngine.MAXDIM)  # more classes take several sequences
        sequences = -(-way // dimension)
        bank = _Bank(self.seed, self.quasi, "logits", self.tasks[task], sequences, dimension)
        return _draw(bank, block).epsilon.mT.flatten(0, 1)[:way]

    def weights(self, task: int, block: SampleBlock, way: int, dim: int) -> WeightNoise:
        """Draw noise (N, L, d) for sampled weights, common to TASKS_PER_BANK consecutive tasks."""
        number = self.tasks[task] // TASKS_PER_BANK
        bank = _Bank(self.seed, self.quasi, "weights", number, way, dim)
        return _draw(bank, block)

    def temperature_shares(self, task: int, block: SampleBlock) -> Tensor:
        """Draw (L,) evenly spaced quantiles in random order, for temperatures of samples."""
        order = generator(self.seed, "predictive temperature", self.tasks[task], block.first)
        shares = (order.permutation(block.count) + 0.5) / block.count
        return torch.from_numpy(shares)


@dataclass(frozen=True)
class _Bank:
    """All that noise is a function of, except for the block of samples."""

    seed: int
    quasi: bool
    purpose: str
    number: int
    sequences: int
    dimension: int


# One entry is enough: consecutive tasks ask for the same bank, and a bank may take many megabytes.
@lru_cache(maxsize=1)
def _draw(bank: _Bank, block: SampleBlock) -> WeightNoise:
    if bank.quasi:
        return _draw_quasi(bank, block)
    source = torch_generator(
        bank.seed,
        f"predictive {bank.purpose}",
        bank.number,
        block.first,
        device=block.device,
    )
    shape = (bank.sequences, block.count, bank.dimension)
    return WeightNoise(torch.randn(*shape, generator=source, device=block.device))


def _draw_quasi(bank: _Bank, block: SampleBlock) -> WeightNoise:
    """Shift the common points by an amount that each bank draws for itself, modulo 1.

    If all tasks had the very same points, their error would not average out over tasks.
    """
    source = generator(bank.seed, f"quasi-random shift {bank.purpose}", bank.number)
    shift = torch.from_numpy(source.random((bank.sequences, 1, bank.dimension))).float()
    points = _points(bank.seed, block.first, block.count, bank.sequences, bank.dimension)
    uniform = (points + shift).remainder(1.0)
    tiny = torch.finfo(torch.float32).eps  # the normal quantiles of 0 and 1 are infinite
    epsilon = torch.special.ndtri(uniform.clamp(tiny / 2, 1 - tiny))
    return WeightNoise(epsilon.to(block.device))


# Common to all tasks and costly to draw: a few entries, for blocks and shapes that take turns.
@lru_cache(maxsize=8)
def _points(seed: int, first: int, count: int, sequences: int, dimension: int) -> Tensor:
    """Return points (sequences, count, dimension) of scrambled Sobol sequences.

    Where weights are sampled there is a sequence for each class: one sequence over all N d numbers
    is impossible, since torch's end at 21,201 dimensions. The points of each sequence are shuffled
    within a block (a power of two of them, which by itself fills the space evenly). Without that,
    point l of two scrambled sequences would be the same point in disguise, and classifiers made of
    such pairs would not be independent across classes.
    """
    order = generator(seed, "quasi-random order", first)
    if sequences * dimension <= MOST_KEPT:
        engines = _restarted(_kept_starts(seed, sequences, dimension))
    else:
        engines = _new_engines(seed, sequences, dimension)
    # Filled piece by piece: pieces of their own would leave gaps of megabytes in the memory.
    points = torch.empty(sequences, count, dimension)
    for number, engine in enumerate(engines):
        if first:
            engine.fast_forward(first)
        points[number] = engine.draw(count)[order.permutation(count)]
    return points


def _new_engines(seed: int, sequences: int, dimension: int) -> Iterator[SobolEngine]:
    """Yield the scrambled sequences at their start."""
    for engine_seed in generator(seed, "quasi-random").integers(2**31, size=sequences):
        yield SobolEngine(dimension, scramble=True, seed=int(engine_seed))


class _Starts(NamedTuple):
    """The sequences at their start, scrambled, as two tensors for all of them."""

    states: Tensor
    """Direction numbers (sequences, dimension, bits); they have 30 bits."""
    shifts: Tensor
    """First points (sequences, dimension), as whole numbers."""


# Many classes are sampled in many blocks, and to scramble the sequences takes longest by far.
@lru_cache(maxsize=1)
def _kept_starts(seed: int, sequences: int, dimension: int) -> _Starts:
    states = torch.empty(sequences, dimension, SobolEngine.MAXBIT, dtype=torch.int32)
    shifts = torch.empty(sequences, dimension, dtype=torch.int64)
    for number, engine in enumerate(_new_engines(seed, sequences, dimension)):
        states[number] = engine.sobolstate
        shifts[number] = engine.shift
    return _Starts(states, shifts)


def _restarted(starts: _Starts) -> Iterator[SobolEngine]:
    """Yield sequences that begin at these starts, which are not changed."""
    for state, shift in zip(starts.states, starts.shifts, strict=True):
        engine = SobolEngine(len(shift))
        engine.sobolstate = state.long()
        engine.shift = shift
        engine.reset()
        engine._first_point = (shift / 2**SobolEngine.MAXBIT).reshape(1, -1)
        yield engine
