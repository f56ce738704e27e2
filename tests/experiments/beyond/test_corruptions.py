"""Noise and blur: every condition has every predictor, and clean data is where all begin."""

from helpers_images import drawn

from samovar.data.corruption import KINDS, SEVERITIES
from samovar.evaluation.evaluator import training_dataset
from samovar.evaluation.predictors import RIVALS, Predictor
from samovar.experiments.beyond.corruptions import (
    EXPERIMENT,
    SHOWN,
    corruption_table,
    measure_corruptions,
)
from samovar.settings.tasks import Protocol


def test_every_condition_is_measured_tabulated_and_drawn(trained):
    protocol = Protocol(3, 2, 4, episodes=20, samples=8)
    data = measure_corruptions(trained, training_dataset(trained, "test"), protocol)
    conditions = {(row["corruption"], row["severity"]) for row in data["results"]}
    expected = {(kind, severity) for kind in KINDS for severity in SEVERITIES}
    assert conditions == expected | {(None, 0)}
    predictors = {row["predictor"] for row in data["results"]}
    assert predictors == {Predictor.PREDICTIVE, Predictor.MEAN_CLASSIFIER} | {
        *RIVALS,
        *(rival.tempered for rival in RIVALS),
    }
    assert len(data["results"]) == len(conditions) * len(predictors)
    assert data["temperatures"] == "fitted on 20 tasks of toy (val, 7 classes)", "clean ones"
    text = corruption_table(data)
    assert text.count("| SAMOVAR, sampled |") == len(KINDS)
    assert "| | severity 0 | severity 1 |" in text
    assert all(predictor.label in text for predictor in SHOWN[1:])
    drawn(EXPERIMENT.figure(data))


def test_nothing_is_trained():
    assert EXPERIMENT.cells("cpu") == []
    assert "without any training" in EXPERIMENT.plan_note
