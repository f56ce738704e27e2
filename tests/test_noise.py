"""Randomness is a function of (seed, purpose, counters)."""

import numpy as np
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch.quasirandom import SobolEngine

from samovar.noise import generator
from samovar.predictive_noise import BANK, Block, PredictiveNoise
from samovar.task_noise import TaskNoise

names = st.tuples(st.integers(0, 2**32), st.sampled_from(["tasks", "weights"]), st.integers(0, 10**6))


@given(names, st.integers(1, 20), st.integers(1, 20))
def test_same_arguments_same_numbers_and_longer_draws_extend_shorter_ones(name, rows, more):
    short = generator(*name).standard_normal((rows, 3), dtype=np.float32)
    long = generator(*name).standard_normal((rows + more, 3), dtype=np.float32)
    np.testing.assert_array_equal(short, long[:rows])


@given(names, names)
def test_other_arguments_other_numbers(first, second):
    same = (generator(*first).random(4) == generator(*second).random(4)).all()
    assert same == (first == second)


def test_noise_of_a_task_is_its_own_for_each_seed_step_task_and_purpose():
    ask = [(0, 0, [5, 6], "weights"), (1, 0, [5, 6], "weights"), (0, 1, [5, 6], "weights"), (0, 0, [5, 6], "dropout")]
    drawn = [TaskNoise(seed, step, tasks).normal(purpose, 3) for seed, step, tasks, purpose in ask]
    rows = torch.cat(drawn)
    assert len(rows.unique(dim=0)) == len(rows), "no two are alike"
    torch.testing.assert_close(TaskNoise(0, 0, [6]).normal("weights", 3), drawn[0][1:], rtol=0, atol=0)


def test_predictive_noise_of_each_task_and_bank_is_its_own():
    block = Block(0, 4, torch.device("cpu"))
    for quasi in (False, True):
        noise = PredictiveNoise(0, [0, 1, BANK - 1, BANK], quasi=quasi)
        logits = torch.stack([noise.logits(position, block, 3).flatten() for position in range(4)])
        assert len(logits.unique(dim=0)) == 4
        banks = [noise.weights(position, block, 2, 3).epsilon.clone() for position in range(4)]
        assert torch.equal(banks[0], banks[2])
        assert not torch.equal(banks[0], banks[3])


def test_more_classes_than_a_sobol_sequence_has_dimensions():
    noise = PredictiveNoise(0, [0], quasi=True).logits(0, Block(0, 8, torch.device("cpu")), SobolEngine.MAXDIM + 1)
    assert noise.shape == (SobolEngine.MAXDIM + 1, 8)
    assert noise.isfinite().all()
    assert not torch.equal(noise[0], noise[-1])


def test_counters_do_not_run_into_each_other():
    assert generator(1, "x", 12, 3).random() != generator(1, "x", 1, 23).random()
