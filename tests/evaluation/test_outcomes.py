"""Outcomes are predictions beside the truth, with and without queries from outside."""

import numpy as np
import pytest
import torch
from helpers_evaluation import random_labels, random_prediction

from samovar.evaluation.outcomes import OUTSIDE, Outcomes
from samovar.prediction.predictive import Prediction, entropy_of

CLASSES = np.array([[4, 7], [9, 4]])


def with_outside() -> Outcomes:
    """Two tasks of two classes; the last query of each is from outside."""
    probabilities = torch.tensor([[[0.9, 0.1], [0.3, 0.7], [0.5, 0.5]]] * 2)
    labels = torch.tensor([[0, 0, OUTSIDE], [1, 1, OUTSIDE]])
    prediction = Prediction(probabilities, entropy_of(probabilities))
    return Outcomes.of(prediction, labels, torch.rand(2, 3), CLASSES)


def test_outcomes_by_hand():
    outcomes = with_outside()
    assert outcomes.predicted[0, :2].tolist() == [0, 1]
    assert outcomes.correct.tolist() == [[True, False, False], [False, True, False]]
    assert outcomes.top[0] == pytest.approx([0.9, 0.7, 0.5])
    assert outcomes.log_likelihood[0, :2] == pytest.approx(np.log([0.9, 0.3]))
    assert outcomes.brier[0, :2] == pytest.approx([0.01 + 0.01, 0.49 + 0.49])
    assert np.isnan(outcomes.log_likelihood[:, 2]).all()
    assert np.isnan(outcomes.brier[:, 2]).all()
    assert outcomes.mutual_information is None


def test_queries_from_outside_are_left_out_and_the_classes_of_the_tasks_stay():
    inside = with_outside().inside
    assert inside.label.shape == inside.distance.shape == (2, 2)
    assert not np.isnan(inside.brier).any()
    np.testing.assert_array_equal(inside.classes, CLASSES)


def test_parts_are_joined_in_order():
    prediction, labels = random_prediction(), random_labels()
    whole = Outcomes.of(prediction, labels, classes=np.arange(18).reshape(6, 3))
    parts = []
    for chosen in (slice(0, 4), slice(4, 6)):
        part = Prediction(prediction.probabilities[chosen], prediction.entropy[chosen])
        parts.append(Outcomes.of(part, labels[chosen], classes=whole.classes[chosen]))
    joined = Outcomes.joined(parts)
    for name, array in vars(whole).items():
        np.testing.assert_array_equal(getattr(joined, name), array)
    assert joined.distance is None


def test_a_class_without_probability_has_a_finite_likelihood():
    probabilities = torch.tensor([[[1.0, 0.0]]])
    prediction = Prediction(probabilities, entropy_of(probabilities))
    assert np.isfinite(Outcomes.of(prediction, torch.tensor([[1]])).log_likelihood).all()
