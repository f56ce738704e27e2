"""The probability that a label is wrong is Bayes' rule, with an error rate that is estimated."""

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from samovar.prediction.label_errors import wrong_label_probabilities


def sure(labels: torch.Tensor, believed: torch.Tensor, way: int) -> torch.Tensor:
    """Probabilities of 0.97 for the class that is believed."""
    probabilities = torch.full((len(labels), way), 0.03 / (way - 1), dtype=torch.float64)
    return probabilities.scatter(1, believed[:, None], 0.97)


def test_contradicted_labels_are_suspected_and_others_are_not():
    labels = torch.arange(4).repeat(10)
    believed = labels.clone()
    believed[:3] = (labels[:3] + 1) % 4
    wrong = wrong_label_probabilities(sure(labels, believed, 4), labels, torch.ones(40) > 0)
    assert wrong[:3].min() > 0.5 > wrong[3:].max()


def test_it_solves_bayes_rule_at_its_own_rate():
    """At the fixed point, the rate that q implies is the rate that q was computed with."""
    noise = np.random.default_rng(0)
    probabilities = torch.from_numpy(noise.dirichlet(np.ones(3) * 0.3, size=60))
    labels = torch.from_numpy(noise.integers(3, size=60))
    wrong = wrong_label_probabilities(probabilities, labels, torch.ones(60) > 0)
    rate = (float(wrong.sum()) + 0.5) / (60 + 10)
    given_label = probabilities.gather(1, labels[:, None])[:, 0]
    odds = rate / 2 * (1 - given_label) / ((1 - rate) * given_label)
    np.testing.assert_allclose(wrong, odds / (1 + odds), atol=1e-4)


def test_a_task_that_is_merely_hard_raises_no_suspicion():
    labels = torch.arange(5).repeat(8)
    probabilities = torch.full((40, 5), 0.2, dtype=torch.float64)
    assert wrong_label_probabilities(probabilities, labels, torch.ones(40) > 0).max() < 0.2


@settings(max_examples=40)
@given(st.integers(2, 6), st.integers(1, 20), st.integers(0, 10**6))
def test_it_is_a_probability_that_falls_with_that_of_the_label(way, images, seed):
    noise = np.random.default_rng(seed)
    probabilities = torch.from_numpy(noise.dirichlet(np.ones(way), size=images))
    labels = torch.from_numpy(noise.integers(way, size=images))
    wrong = wrong_label_probabilities(probabilities, labels, torch.ones(images) > 0)
    assert ((wrong >= 0) & (wrong <= 1)).all()
    order = probabilities.gather(1, labels[:, None])[:, 0].argsort()
    assert (wrong[order].diff() <= 1e-12).all()


def test_nothing_is_said_where_nothing_is_known():
    labels = torch.tensor([0, 0, 1])
    probabilities = torch.tensor([[0.01, 0.99], [0.01, 0.99], [0.99, 0.01]])
    wrong = wrong_label_probabilities(probabilities, labels, torch.tensor([True, True, False]))
    assert wrong[2] == 0
    assert wrong_label_probabilities(torch.ones(2, 1), labels[:2], labels[:2] == 0).tolist() == [
        0,
        0,
    ]
    nothing = wrong_label_probabilities(probabilities, labels, torch.zeros(3) > 0)
    assert nothing.sum() == pytest.approx(0)
