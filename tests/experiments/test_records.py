"""Records hold what the files hold."""

import numpy as np
import pytest

from samovar.errors import UnreadableError
from samovar.experiments.records import (
    CellSummary,
    Estimate,
    PredictorMetrics,
    SampledAccuracies,
    SeedMetrics,
    TrainingTrace,
    VariancePoint,
    checked_study,
)


def test_an_interval_is_that_of_the_mean_over_tasks():
    tasks = np.array([0.4, 0.6, 0.5, 0.7])
    interval = Estimate.of(tasks)
    assert interval.mean == tasks.mean()
    assert interval.ci95 == 1.96 * tasks.std(ddof=1) / 2


def test_sampled_accuracies_survive_their_file():
    stored = {"prior single": {"mean": 0.4, "ci95": 0.1}, "tasks": 25}
    assert SampledAccuracies.from_json(stored).to_json() == stored


def test_the_trace_has_the_variances_without_the_validations():
    """A deterministic model has no bias variance."""
    trace = [
        {"update": 250, "nll": 1.0, "largest_weight_variance": 0.1, "largest_bias_variance": 0.2},
        {"update": 312, "validation_accuracy": 0.5},
        {"update": 500, "nll": 0.9, "largest_weight_variance": 0.0},
    ]
    record = TrainingTrace.from_json({"trace": trace, "samples": None})
    assert record.variances == [VariancePoint(250, 0.1, 0.2), VariancePoint(500, 0.0, None)]
    assert record.samples is None
    assert record.best_validation == 0.5


def test_a_summary_has_both_predictors():
    sampled = {
        "accuracy": {"mean": 0.7, "ci95": 0.01},
        "nll": {"mean": 0.8},
        "ece": {"value": 0.02},
        "reliability": [
            {"queries": 6, "confidence": 0.5, "accuracy": 0.6},
            {"queries": 2, "confidence": 0.9, "accuracy": 0.8},
        ],
    }
    at_mean = {
        "accuracy": {"mean": 0.6, "ci95": 0.02},
        "nll": {"mean": 0.9},
        "ece": {"value": 0.2},
        "reliability": [{"queries": 8, "confidence": 0.8, "accuracy": 0.6}],
    }
    stored = sampled | {"mean_classifier": at_mean, "protocol": {"text": "5-way"}}
    summary = CellSummary.from_json(stored)
    assert summary.protocol == "5-way"
    assert (summary.sampled.accuracy.mean, summary.sampled.nll, summary.sampled.ece) == (
        0.7,
        0.8,
        0.02,
    )
    assert (summary.at_mean.accuracy.ci95, summary.at_mean.nll, summary.at_mean.ece) == (
        0.02,
        0.9,
        0.2,
    )
    assert summary.sampled.gap == pytest.approx(-0.05), "too modest, by the pooled bins"
    assert summary.at_mean.gap == pytest.approx(0.2), "too sure"
    assert summary.tempered is None, "a temperature is fitted for deterministic models only"
    tempered = CellSummary.from_json(stored | {"predictive_tempered": at_mean}).tempered
    assert tempered == summary.at_mean


def study() -> dict:
    row = {"accuracy": [0.5, 0.6], "gain": {"mean": 0.1, "ci95": 0.1}, "error": 0.1}
    kinds = [("plain", 1), ("plain", 1000), ("plain", 10_000), ("quasi", 1)]
    return {
        "protocol": {"shot": 1},
        "mean_classifier": {"accuracy": 0.5},
        "results": [{"kind": kind, "samples": samples} | row for kind, samples in kinds],
        "quasi_equal_to_1000": None,
        "repeats": 2,
    }


@pytest.mark.parametrize(
    ("name", "value", "words"),
    [
        ("results", [], "no results for 1 random samples"),
        ("results", [{"kind": "odd"}], "kind"),
        ("repeats", 3, "as many repeats"),
        ("mean_classifier", 0.5, "must be a table"),
        ("quasi_equal_to_1000", "many", "whole number or null"),
    ],
)
def test_a_study_that_cannot_be_drawn_is_refused(name, value, words):
    assert checked_study(study()) == study()
    with pytest.raises(UnreadableError, match=words):
        checked_study(study() | {name: value})


def test_seeds_are_averaged_metric_by_metric():
    first = PredictorMetrics(Estimate(0.4, 0.1), nll=1.0, ece=0.1, gap=-0.1)
    second = PredictorMetrics(Estimate(0.6, 0.1), nll=2.0, ece=0.3, gap=0.3)
    seeds = SeedMetrics.of([first, second])
    means = (seeds.accuracy.mean, seeds.nll.mean, seeds.ece.mean, seeds.gap.mean)
    assert means == pytest.approx((0.5, 1.5, 0.2, 0.1))
    assert SeedMetrics.of([first]).ece.ci95 is None, "one seed says nothing of others"
