"""A regression is measured like every model, on vectors of its own encoder only."""

import json
from dataclasses import replace

import pytest
from helpers import make_store
from helpers_evaluation import vector_dataset
from helpers_photos import LENGTH, patch_encoder, small_regression

import samovar
from samovar.data.dataset import Dataset
from samovar.errors import DataError
from samovar.evaluation.regression_evaluator import RegressionEvaluator
from samovar.settings.tasks import Protocol

PROTOCOL = Protocol(3, 2, 4, episodes=25, samples=32, quasi=True, outside=3)


def test_the_summary_has_all_metrics_and_says_what_was_measured(tmp_path):
    saved = small_regression()
    evaluation = samovar.evaluate(saved, PROTOCOL, vector_dataset(tmp_path))
    summary = json.loads(json.dumps(evaluation.summary))
    assert summary["accuracy"]["mean"] > 0.9
    assert summary["uncertainty"]["distance"]["outside_auroc"]["value"] > 0.8
    assert summary["model"] == {
        "encoder": "patches",
        "power": 0.5,
        "spread": 0.3,
        "kind": "closed_form",
    }
    assert summary["model_identity"] == saved.identity
    assert summary["protocol"]["norm"] == "none"
    assert {"nll", "brier", "ece", "mean_classifier", "predictive_tempered"} <= set(summary)
    assert "closed form on the vectors of patches" in evaluation.results.model_text
    assert "log variance" in evaluation.results.distance_text


def test_vectors_of_another_encoder_are_refused(tmp_path):
    own = vector_dataset(tmp_path / "own", patch_encoder())
    RegressionEvaluator(small_regression(), own)
    other = vector_dataset(tmp_path / "other", patch_encoder("others"))
    with pytest.raises(DataError, match=r"made by the encoder others.*samovar embed"):
        RegressionEvaluator(small_regression(), other)
    saved = small_regression()
    longer = replace(saved, encoder=replace(saved.encoder, length=LENGTH + 1))
    with pytest.raises(DataError, match=f"vectors of {LENGTH} numbers"):
        RegressionEvaluator(longer, own)


def test_images_are_refused_with_the_command_that_encodes_them(tmp_path):
    images = Dataset(make_store(tmp_path, [9] * 6))
    with pytest.raises(DataError, match=r"holds images.*samovar embed"):
        RegressionEvaluator(small_regression(), images)
