"""The fitted laws find the factor and temperature that were planted, and calibrate real tasks."""

import math

import pytest
import torch
from helpers import noisy_store

from samovar.data.dataset import Dataset
from samovar.data.normalization import Normalization
from samovar.evaluation.calibration_fit import (
    FACTORS,
    LOG_TEMPERATURES,
    ShapeTables,
    fit_calibration,
    fit_laws,
)
from samovar.evaluation.metrics import TaskMetrics
from samovar.evaluation.predictors import Predictor
from samovar.evaluation.task_runner import TaskRunner
from samovar.models.few_shot_model import FewShotModel
from samovar.prediction.task_temperature import label_log_likelihoods
from samovar.settings.model import ModelSettings
from samovar.settings.tasks import Protocol

CPU = torch.device("cpu")


def planted(way: int, shot: int, temperature: float) -> ShapeTables:
    """Return tables of logits that are too sure by a known factor, at any shape."""
    noise = torch.Generator().manual_seed(way * 100 + shot)
    logits = 2 * torch.randn(1, 20, 1, 40, way, generator=noise, dtype=torch.float64)
    labels = torch.distributions.Categorical(logits=logits[0, :, 0]).sample()
    seen = label_log_likelihoods(logits[0] * temperature, labels, LOG_TEMPERATURES)
    query = seen[None].expand(len(FACTORS), -1, -1, -1)
    none = torch.zeros(len(FACTORS), 20, len(LOG_TEMPERATURES))
    return ShapeTables(way, shot, query, none)


def test_planted_temperatures_are_found():
    torch.manual_seed(0)
    tables = []
    for way in (2, 5, 10):
        for shot in (1, 5, 20):
            tables.append(planted(way, shot, temperature=3 / math.sqrt(shot)))
    calibration = fit_laws(tables, "planted")
    for shot in (1, 5, 20):
        found = calibration.temperature.at(5, shot)
        assert found == pytest.approx(3 / math.sqrt(shot), rel=0.15)
    assert (calibration.most_shots, calibration.most_ways) == (20, 10)


@pytest.mark.parametrize(("classifier", "alpha"), [("cosine", 60.0), ("squared", 400.0)])
def test_a_model_that_is_far_too_sure_is_mended_on_other_tasks(tmp_path, classifier, alpha):
    dataset = Dataset(noisy_store(tmp_path))
    method = "prototypes" if classifier == "squared" else "samovar"
    settings = ModelSettings(method=method, size=12, width=8, classifier=classifier, alpha=alpha)
    model = FewShotModel(settings).eval()
    runner = TaskRunner(model, dataset, Normalization.standard(dataset.store), CPU)
    runner.calibration = fit_calibration(runner, seed=0, tasks=8)
    assert runner.calibration is not None
    assert "15 shapes from noisy" in runner.calibration.about
    for shot in (1, 5):
        protocol = Protocol(
            way=5, shot=shot, queries=5, episodes=40, samples=32, seed=9, split="train"
        )
        outcomes = runner.outcomes(protocol)
        calibrated = TaskMetrics.of(outcomes[Predictor.CALIBRATED])
        plain = TaskMetrics.of(outcomes[Predictor.PREDICTIVE])
        assert calibrated.nll.mean() < plain.nll.mean() - 0.01
        assert calibrated.accuracy.mean() > plain.accuracy.mean() - 0.02


def test_a_model_without_a_calibration_has_no_calibrated_predictor(tmp_path):
    dataset = Dataset(noisy_store(tmp_path))
    model = FewShotModel(ModelSettings(size=12, width=8)).eval()
    runner = TaskRunner(model, dataset, Normalization.standard(dataset.store), CPU)
    protocol = Protocol(way=5, shot=1, queries=2, episodes=2, samples=4, split="train")
    assert Predictor.CALIBRATED not in runner.outcomes(protocol)
