"""The noise of the predictive is its own for each task and bank, in any number of dimensions."""

from concurrent.futures import ThreadPoolExecutor

import torch
from torch import Tensor
from torch.quasirandom import SobolEngine

from samovar.models.noise import SampleBlock
from samovar.prediction.sampling_noise import (
    TASKS_PER_BANK,
    PredictiveNoise,
    _kept_starts,
    _new_engines,
    _points,
)


def test_predictive_noise_of_each_task_and_bank_is_its_own():
    block = SampleBlock(0, 4, torch.device("cpu"))
    for quasi in (False, True):
        noise = PredictiveNoise(0, [0, 1, TASKS_PER_BANK - 1, TASKS_PER_BANK], quasi=quasi)
        logits = torch.stack([noise.logits(position, block, 3).flatten() for position in range(4)])
        assert len(logits.unique(dim=0)) == 4
        banks = [noise.weights(position, block, 2, 3).epsilon.clone() for position in range(4)]
        assert torch.equal(banks[0], banks[2])
        assert not torch.equal(banks[0], banks[3])


def test_blocks_of_a_sequence_are_its_parts_in_any_order_and_thread():
    def numbers(first: int, count: int) -> Tensor:
        return _points(1, first, count, 5, 7)

    whole = []
    for sequence in _new_engines(1, 5, 7):
        whole.append(sequence.draw(32))
    _kept_starts.cache_clear()
    firsts = [24, 0, 8, 16]
    with ThreadPoolExecutor(4) as pool:
        blocks = list(pool.map(lambda first: numbers(first, 8), firsts))
    for first, block in zip(firsts, blocks, strict=True):
        for sequence, points in zip(whole, block, strict=True):
            expected = sequence[first : first + 8].sort(dim=0).values
            assert torch.equal(points.sort(dim=0).values, expected)


def test_many_classes_start_their_sequences_once(monkeypatch):
    _kept_starts.cache_clear()
    _points.cache_clear()
    noise = PredictiveNoise(0, [0], quasi=True)
    started = []
    scramble = SobolEngine._scramble
    monkeypatch.setattr(SobolEngine, "_scramble", lambda engine: started.append(scramble(engine)))
    for first in range(0, 64, 4):
        noise.weights(0, SampleBlock(first, 4, torch.device("cpu")), 10, 3)
    assert len(started) == 10


def test_more_classes_than_a_sobol_sequence_has_dimensions():
    noise = PredictiveNoise(0, [0], quasi=True).logits(
        0, SampleBlock(0, 8, torch.device("cpu")), SobolEngine.MAXDIM + 1
    )
    assert noise.shape == (SobolEngine.MAXDIM + 1, 8)
    assert noise.isfinite().all()
    assert not torch.equal(noise[0], noise[-1])
