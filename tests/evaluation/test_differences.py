"""Differences are taken task by task, and those of the calibration error are of pooled errors."""

import numpy as np
import pytest
from helpers_evaluation import random_labels, random_prediction

from samovar.evaluation.differences import CalibrationDifference, PairedDifferences
from samovar.evaluation.metrics import CalibrationError, TaskMetrics
from samovar.evaluation.outcomes import Outcomes


def task_metrics(seed: int) -> TaskMetrics:
    return TaskMetrics.of(Outcomes.of(random_prediction(tasks=40, seed=seed), random_labels(40)))


def test_differences_are_those_of_the_metrics_and_change_sign_with_the_order():
    first, second = task_metrics(0), task_metrics(1)
    there = PairedDifferences.of(first, second, 0)
    back = PairedDifferences.of(second, first, 0)
    for name in ("accuracy", "nll", "brier", "gap"):
        values = getattr(first, name) - getattr(second, name)
        assert getattr(there, name).mean == pytest.approx(values.mean())
        assert getattr(there, name).ci95 == pytest.approx(1.96 * values.std(ddof=1) / 40**0.5)
        assert getattr(there, name).mean == pytest.approx(-getattr(back, name).mean)
    errors = [CalibrationError.of(metrics, 0).value for metrics in (first, second)]
    assert there.ece.mean == pytest.approx(errors[0] - errors[1])
    assert there.ece.ci95 == pytest.approx([-bound for bound in back.ece.ci95[::-1]])


def test_a_predictor_does_not_differ_from_itself():
    metrics = task_metrics(0)
    same = PairedDifferences.of(metrics, metrics, 0)
    assert (same.accuracy.mean, same.accuracy.ci95, same.ece.ci95) == (0, 0, [0, 0])


def test_seeds_of_a_method_are_averaged():
    seeds = [task_metrics(seed).bins for seed in range(3)]
    values = [CalibrationDifference.of([bins], [seeds[2]], 0).mean for bins in seeds[:2]]
    together = CalibrationDifference.of(seeds[:2], [seeds[2]], 0)
    assert together.mean == pytest.approx(np.mean(values))
