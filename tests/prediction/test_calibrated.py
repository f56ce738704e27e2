"""Calibrated predictions are averages over wider classifiers and temperatures."""

import pytest
import torch
from helpers_models import FEATURES

from samovar.models.few_shot_model import FewShotModel
from samovar.prediction.calibrated import predict_calibrated
from samovar.prediction.calibration import TaskCalibration
from samovar.prediction.predictive import predict, predict_at_mean
from samovar.prediction.sampling_noise import PredictiveNoise
from samovar.settings.model import ModelSettings

LINEAR = FEATURES
COSINE = ModelSettings(backbone="identity", size=6, classifier="cosine")
PROTOTYPES = ModelSettings(
    backbone="identity", size=6, method="prototypes", classifier="squared", alpha=1.0
)
NEUTRAL = TaskCalibration(1.0, torch.zeros(1).double(), torch.ones(1).double())


def tasks(settings):
    torch.manual_seed(0)
    model = FewShotModel(settings).eval()
    labels = torch.tensor([[0, 0, 1, 1, 2, 2]] * 2)
    with torch.no_grad():
        prior = model.task_prior(torch.randn(2, 6, 6), labels, 3)
    return model.classifier, prior, torch.randn(2, 4, 6)


@pytest.mark.parametrize("settings", [LINEAR, COSINE, PROTOTYPES])
def test_a_neutral_calibration_changes_nothing(settings):
    classifier, prior, queries = tasks(settings)
    noise = PredictiveNoise(0, [0, 1], quasi=True)
    plain = predict(classifier, prior, queries, 16, noise)
    calibrated = predict_calibrated(classifier, prior, queries, 16, noise, [NEUTRAL] * 2)
    torch.testing.assert_close(calibrated.probabilities, plain.probabilities)


@pytest.mark.parametrize("settings", [LINEAR, COSINE])
def test_without_variance_the_classifier_at_the_mean_is_tempered(settings):
    classifier, prior, queries = tasks(settings)
    warm = TaskCalibration(0.0, torch.tensor([0.7]).double(), torch.ones(1).double())
    noise = PredictiveNoise(0, [0, 1], quasi=True)
    calibrated = predict_calibrated(classifier, prior, queries, 8, noise, [NEUTRAL, warm])
    logits = classifier.mean_logits(queries, prior)
    expected = (logits[1] / torch.tensor(0.7).exp()).softmax(-1)
    torch.testing.assert_close(calibrated.probabilities[1], expected, atol=1e-4, rtol=1e-3)


@pytest.mark.parametrize("settings", [LINEAR, COSINE, PROTOTYPES])
def test_uncertain_temperatures_are_averaged_over(settings):
    classifier, prior, queries = tasks(settings)
    grid = torch.tensor([-0.5, 0.9]).double()
    uncertain = TaskCalibration(0.0, grid, torch.tensor([0.25, 0.75]).double())
    noise = PredictiveNoise(3, [0, 1])
    calibrated = predict_calibrated(classifier, prior, queries, 64, noise, [uncertain] * 2)
    logits = classifier.mean_logits(queries, prior)
    cold, hot = [(logits * torch.exp(-value)).softmax(-1) for value in grid.float()]
    expected = 0.25 * cold + 0.75 * hot
    torch.testing.assert_close(calibrated.probabilities, expected, atol=1e-4, rtol=1e-3)


def test_a_query_is_answered_as_if_it_were_asked_alone():
    classifier, prior, queries = tasks(COSINE)
    noise = PredictiveNoise(0, [0, 1], quasi=True)
    wide = TaskCalibration(1.5, torch.tensor([0.1, 0.4]).double(), torch.full((2,), 0.5).double())
    together = predict_calibrated(classifier, prior, queries, 8, noise, [wide] * 2)
    alone = predict_calibrated(classifier, prior, queries[:, 2:3], 8, noise, [wide] * 2)
    torch.testing.assert_close(together.probabilities[:, 2:3], alone.probabilities)


def test_a_wider_classifier_is_less_sure():
    classifier, prior, queries = tasks(LINEAR)
    noise = PredictiveNoise(0, [0, 1], quasi=True)
    wide = TaskCalibration(20.0, torch.zeros(1).double(), torch.ones(1).double())
    spread = predict_calibrated(classifier, prior, queries, 256, noise, [wide] * 2)
    at_mean = predict_at_mean(classifier, prior, queries)
    assert spread.mutual_information is not None
    assert float(spread.mutual_information.mean()) > 0.1
    assert float(spread.entropy.mean()) > float(at_mean.entropy.mean())
