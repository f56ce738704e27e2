"""The posterior of a task's temperature, by hand."""

import math

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch.nn import functional

from samovar.models.closed_form import GRID
from samovar.prediction.task_temperature import (
    deviations,
    label_log_likelihoods,
    posterior_weights,
    prior_weights,
)


def test_the_grid_is_even_around_the_usual_temperature():
    grid = deviations(0.3)
    assert len(grid) == GRID
    torch.testing.assert_close(grid, -grid.flip(0))
    assert grid[-1] == pytest.approx(1.2)


def test_log_likelihoods_are_of_the_average_over_samples():
    logits = torch.randn(7, 4, 3)
    labels = torch.tensor([0, 2, 1, 1])
    log_temperatures = torch.tensor([-0.5, 0.0, 0.8])
    found = label_log_likelihoods(logits, labels, log_temperatures)
    for position, log_temperature in enumerate(log_temperatures.tolist()):
        average = (logits / math.exp(log_temperature)).softmax(-1).mean(0)
        expected = -functional.nll_loss(average.log(), labels, reduction="none")
        torch.testing.assert_close(found[:, position], expected)


@given(st.integers(0, 1000))
def test_without_evidence_the_posterior_is_the_prior(seed):
    constant = torch.full((GRID,), float(seed))
    torch.testing.assert_close(posterior_weights(constant), prior_weights())
    assert float(prior_weights().sum()) == pytest.approx(1)


def test_sure_and_wrong_answers_make_a_task_warmer():
    logits = 6 * torch.eye(3)[None]
    right = label_log_likelihoods(logits, torch.arange(3), deviations(0.3)).sum(0)
    wrong = label_log_likelihoods(logits, torch.tensor([1, 2, 0]), deviations(0.3)).sum(0)
    warmth = [float(posterior_weights(seen) @ deviations(0.3)) for seen in (right, wrong)]
    assert warmth[0] < 0 < warmth[1]
