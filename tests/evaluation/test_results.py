"""Results have the JSON form that stored evaluations have, and it survives a file."""

import json

from helpers_evaluation import make_results, metrics_of

from samovar.evaluation.predictors import Predictor

METRICS = ["accuracy", "nll", "brier", "ece", "gap", "ece_per_task"]
METRICS += ["reliability", "uncertainty", "risk_coverage"]


def test_the_predictive_is_at_the_top_and_the_others_under_their_names():
    results = make_results()
    stored = results.to_json()
    described = ["format", "protocol", "model", "model_identity"]
    described += ["data", "data_checksum", "data_identity", "episodes"]
    others = ["mean_classifier", "predictive_tempered", "mean_classifier_tempered", "calibrated"]
    assert list(stored) == [*described, *METRICS, *others, "temperature_note", "classes"]
    assert list(stored["mean_classifier"]) == METRICS
    assert list(stored["predictive_tempered"]) == ["temperature", *METRICS]
    assert stored["accuracy"] == results.predictive.accuracy.to_json()


def test_the_protocol_is_stored_with_the_norm_that_was_used():
    stored = make_results().to_json()["protocol"]
    assert stored["norm"] == "running"
    assert stored["text"] == (
        "3-way 1-shot, 6 tasks x 4 queries per class, 5 samples, test classes, seed 0, running norm"
    )


def test_the_json_form_is_the_same_after_a_file():
    stored = make_results().to_json()
    assert json.loads(json.dumps(stored)) == stored


def test_measures_that_a_model_does_not_have_are_null():
    stored = metrics_of(Predictor.PREDICTIVE).to_json()
    assert stored["uncertainty"]["mutual_information"] is None
    assert stored["uncertainty"]["distance"] is None
    assert set(stored["uncertainty"]["entropy"]) == {"mean", "wrong_auroc", "outside_auroc"}
    assert set(stored["ece"]) == {"value", "ci95"}
    assert stored["ece"]["ci95"][0] <= stored["ece"]["ci95"][1]
