"""Calibration metrics are those computed by hand, and their intervals cover."""

import numpy as np
import pytest
import torch

from samovar.evaluation.metrics import (
    CalibrationError,
    Estimate,
    TaskMetrics,
    calibration_errors,
    expected_calibration_error,
    reliability,
    reliability_gap,
)
from samovar.evaluation.outcomes import Outcomes
from samovar.prediction.predictive import Prediction, entropy_of


def metrics_of(probabilities: torch.Tensor, labels: torch.Tensor) -> TaskMetrics:
    return TaskMetrics.of(Outcomes.of(Prediction(probabilities, entropy_of(probabilities)), labels))


def test_metrics_by_hand():
    """Three queries of two classes: right with 0.9, right with 0.6, wrong with 0.8."""
    probabilities = torch.tensor([[[0.9, 0.1], [0.4, 0.6], [0.8, 0.2]]])
    metrics = metrics_of(probabilities, torch.tensor([[0, 1, 1]]))
    assert metrics.accuracy[0] == pytest.approx(2 / 3)
    assert metrics.nll[0] == pytest.approx(-np.log([0.9, 0.6, 0.2]).mean(), rel=1e-6)
    assert metrics.brier[0] == pytest.approx(
        np.mean([0.01 + 0.01, 0.16 + 0.16, 0.64 + 0.64]), rel=1e-5
    )
    # each in a bin of its own: |1 - 0.9|, |1 - 0.6|, |0 - 0.8|, a third each
    assert expected_calibration_error(metrics.bins[0]) == pytest.approx(
        (0.1 + 0.4 + 0.8) / 3, rel=1e-5
    )


def test_pooling_over_tasks_is_not_the_average_of_tasks():
    """Two tasks with 0.75 for every query, one right and one wrong: half of all are right."""
    probabilities = torch.full((2, 1, 2), 0.25)
    probabilities[..., 0] = 0.75
    metrics = metrics_of(probabilities, torch.tensor([[0], [1]]))
    errors = [expected_calibration_error(bins) for bins in metrics.bins]
    assert errors == pytest.approx([0.25, 0.75])
    assert calibration_errors(metrics.bins) == pytest.approx(errors)
    assert metrics.gap == pytest.approx([-0.25, 0.75])
    assert CalibrationError.of(metrics, 0).value == pytest.approx(0.25)


def test_perfect_and_random_classifiers():
    labels = torch.arange(5).repeat(4, 3)
    perfect = metrics_of(torch.nn.functional.one_hot(labels, 5).float(), labels)
    assert Estimate.of(perfect.accuracy).to_json() == {"mean": 1.0, "ci95": 0.0}
    assert CalibrationError.of(perfect, 0) == CalibrationError(0.0, [0.0, 0.0])
    assert perfect.nll.max() == 0
    g = torch.Generator().manual_seed(0)
    guess = torch.rand(2000, 15, 5, generator=g).softmax(-1)
    chance = Estimate.of(metrics_of(guess, labels[:1].expand(2000, -1)).accuracy)
    assert chance.mean == pytest.approx(0.2, abs=2 * chance.ci95)


def test_a_calibrated_classifier_has_a_small_error_and_its_labels_follow_its_probabilities():
    g = torch.Generator().manual_seed(0)
    probabilities = torch.randn(2000, 20, 3, generator=g).mul(2).softmax(-1)
    labels = torch.multinomial(probabilities.flatten(0, 1), 1, generator=g).view(2000, 20)
    result = CalibrationError.of(metrics_of(probabilities, labels), 0)
    assert result.value < 0.01
    assert result.ci95[0] <= result.value + 0.01
    sharper = metrics_of(probabilities.pow(3) / probabilities.pow(3).sum(-1, keepdim=True), labels)
    assert CalibrationError.of(sharper, 0).ci95[0] > 0.05
    assert all(row.confidence > row.accuracy for row in reliability(sharper)[5:]), (
        "too sure, not too modest"
    )
    gap = reliability_gap(reliability(sharper))
    assert gap == pytest.approx(sharper.gap.mean()), "tasks of equal size: pooled is the mean"
    assert gap == pytest.approx(CalibrationError.of(sharper, 0).value, abs=0.01), "all in one sign"


def test_the_calibration_interval_is_as_wide_as_the_error_varies_over_sets_of_tasks():
    """Too sure in all bins, so that the error is a mean over tasks and its spread can be known."""
    g = torch.Generator().manual_seed(0)
    found = []
    for _ in range(60):
        right = (
            torch.rand(100, 1, generator=g).expand(-1, 10) > 0.4
        )  # a task is right or wrong as a whole
        probabilities = torch.tensor([0.9, 0.1]).expand(100, 10, 2)
        found.append(CalibrationError.of(metrics_of(probabilities, (~right).long()), 0))
    covered = [low <= 0.3 <= high for low, high in (error.ci95 for error in found)]
    assert 0.85 <= np.mean(covered) <= 1
    widths = [high - low for low, high in (error.ci95 for error in found)]
    assert np.mean(widths) == pytest.approx(2 * 1.96 * (0.4 * 0.6 / 100) ** 0.5, rel=0.1)


def test_intervals_cover_the_long_run_mean_about_95_times_in_100():
    rng = np.random.default_rng(0)
    truth = 0.7
    covered = 0
    for _ in range(1000):
        found = Estimate.of(rng.binomial(15, rng.beta(7, 3, 100)) / 15)
        covered += abs(found.mean - truth) <= found.ci95
    assert 0.92 < covered / 1000 < 0.98


def test_a_single_task_has_no_interval():
    metrics = metrics_of(torch.tensor([[[0.9, 0.1], [0.4, 0.6]]]), torch.tensor([[0, 0]]))
    assert Estimate.of(metrics.accuracy).ci95 is None
    assert not Estimate.of(metrics.accuracy).excludes_zero
    assert CalibrationError.of(metrics, 0).to_json()["ci95"] is None
