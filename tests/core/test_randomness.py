"""Randomness is a function of seed, purpose and counters."""

import numpy as np
import torch
from hypothesis import given
from hypothesis import strategies as st

from samovar.core.randomness import generator, torch_generator

names = st.tuples(
    st.integers(0, 2**32), st.sampled_from(["tasks", "weights"]), st.integers(0, 10**6)
)


@given(names, st.integers(1, 20), st.integers(1, 20))
def test_same_arguments_same_numbers_and_longer_draws_extend_shorter_ones(name, rows, more):
    short = generator(*name).standard_normal((rows, 3), dtype=np.float32)
    long = generator(*name).standard_normal((rows + more, 3), dtype=np.float32)
    np.testing.assert_array_equal(short, long[:rows])


@given(names, names)
def test_other_arguments_other_numbers(first, second):
    same = (generator(*first).random(4) == generator(*second).random(4)).all()
    assert same == (first == second)


def test_counters_do_not_run_into_each_other():
    assert generator(1, "x", 12, 3).random() != generator(1, "x", 1, 23).random()


def test_torchs_generators_are_functions_of_their_arguments_and_leave_the_global_state_alone():
    state = torch.random.get_rng_state()
    arguments = [(0, "weights", 1), (1, "weights", 1), (0, "dropout", 1), (0, "weights", 2)]
    rows = [torch.rand(4, generator=torch_generator(*argument)) for argument in arguments]
    assert len(torch.stack(rows).unique(dim=0)) == len(arguments)
    assert torch.equal(torch.rand(4, generator=torch_generator(*arguments[0])), rows[0])
    assert torch.equal(torch.random.get_rng_state(), state)
