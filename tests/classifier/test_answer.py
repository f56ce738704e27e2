"""Answers add up, and parameters that cannot be used are refused."""

import numpy as np
import pytest
import torch

from samovar.classifier.answer import (
    AnswerParameters,
    answer_of,
    probabilities_of,
    thresholds_of,
    uncertainty_of,
    with_rejected,
)
from samovar.errors import ModelError, SettingsError
from samovar.prediction.predictive import Prediction
from samovar.prediction.rejection import RATES, Rejection, ShapeThresholds

THRESHOLDS = Rejection("test", (ShapeThresholds(2, 1, (0.1,) * len(RATES)),))


@pytest.mark.parametrize("samples", [0, -1, 10_001, 2.5, "4"])
def test_the_number_of_samples_is_checked(samples):
    with pytest.raises(SettingsError, match="whole number from 1 to 10000"):
        AnswerParameters(samples=samples).check(None)


def test_rejection_needs_a_rate_and_a_model_with_thresholds():
    AnswerParameters(samples=np.int64(3), reject=0.05).check(THRESHOLDS)
    AnswerParameters(reject=None).check(None)
    with pytest.raises(SettingsError, match="reject must be from"):
        AnswerParameters(reject=2).check(THRESHOLDS)
    with pytest.raises(ModelError, match="no thresholds for rejection"):
        AnswerParameters(reject=0.05).check(None)
    assert thresholds_of(THRESHOLDS) is THRESHOLDS


def test_probabilities_sum_to_one_in_double_precision():
    thirds = torch.full((1, 4, 3), 1 / 3, dtype=torch.float32)
    probabilities = probabilities_of(Prediction(thirds, torch.zeros(1, 4)))
    assert probabilities.dtype == np.float64
    assert (np.abs(probabilities.sum(1) - 1) < 1e-15).all()


@pytest.mark.parametrize("wrong", ["probabilities", "distance"])
def test_answers_that_are_not_numbers_are_refused(wrong):
    probabilities = torch.full((1, 2, 2), 0.5)
    distance = np.zeros(2)
    if wrong == "probabilities":
        probabilities[0, 1, 1] = float("nan")
    else:
        distance[1] = float("nan")
    prediction = Prediction(probabilities, torch.zeros(1, 2))
    with pytest.raises(ModelError, match="not finite numbers"):
        answer_of(np.array(["a", "b"]), prediction, distance, None, "none")


def test_one_classifier_alone_does_not_disagree_with_itself():
    prediction = Prediction(torch.ones(1, 2, 1), torch.tensor([[0.5, 0.25]]))
    assert uncertainty_of(prediction).entropy.tolist() == [0.5, 0.25]
    assert uncertainty_of(prediction).mutual_information is None


def test_rejected_labels_keep_the_common_type_if_there_is_one():
    rejected = np.array([False, True])
    assert with_rejected(np.array([3, 4]), rejected, -1).dtype.kind == "i"
    mixed = with_rejected(np.array([3, 4]), rejected, "none of these")
    assert mixed.tolist() == [3, "none of these"]
    assert with_rejected(np.array(["a"])[:0], rejected[:0], "x").tolist() == []
