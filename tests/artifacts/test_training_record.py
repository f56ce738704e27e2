"""What a model remembers of its training survives storing, and old models are read."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from samovar.artifacts.locate import SHIPPED, shipped_models
from samovar.artifacts.training_record import (
    TestResult,
    TrainingRecord,
    TrainingResults,
    ValidationResult,
)
from samovar.errors import SettingsError

fractions = st.floats(0, 1)


@given(fractions, st.integers(1, 10**6), fractions, fractions)
def test_a_record_is_the_same_after_it_was_stored(validation, update, test, ci95):
    record = TrainingRecord("toy", "1234", "none", settings={"seed": 1})
    record = record.with_validation(validation, update)
    assert TrainingRecord.from_json(json.loads(json.dumps(record.to_json()))) == record
    assert not record.finished
    best = ValidationResult(validation, update)
    record = record.with_test(best, TestResult(test, ci95), "5-way")
    assert TrainingRecord.from_json(json.loads(json.dumps(record.to_json()))) == record
    assert record.results == TrainingResults(best, TestResult(test, ci95), finished=True)


def test_the_words_and_the_numbers_are_the_same():
    record = TrainingRecord("toy").with_test(
        ValidationResult(0.5, 40), TestResult(0.25, 0.0125), "5-way 1-shot"
    )
    assert record.figures == {
        "validation accuracy": "50.00 % (update 40)",
        "test accuracy, 5-way 1-shot": "25.00 ± 1.25 %",
    }
    assert record.to_json()["results"] == {
        "validation": {"accuracy": 0.5, "update": 40},
        "test": {"accuracy": 0.25, "ci95": 0.0125},
        "finished": True,
    }


@pytest.mark.parametrize("name", sorted(set(shipped_models()) - {"photos"}))
def test_models_that_store_words_only_are_read(name):
    stored = json.loads((SHIPPED / name / "config.json").read_bytes())["training"]
    record = TrainingRecord.from_json(stored)
    assert record.data == name
    assert record.finished
    assert record.to_json() == stored


def test_nothing_has_to_be_known():
    assert TrainingRecord.from_json({}) == TrainingRecord()
    assert TrainingRecord().to_json() == {"figures": {}}


@pytest.mark.parametrize(
    "stored",
    [{"data": 3}, {"figures": ["a"]}, {"settings": "a"}, {"results": 1}, {"results": {"a": 1}}],
)
def test_other_contents_are_refused(stored):
    with pytest.raises((ValueError, SettingsError)):
        TrainingRecord.from_json(stored)
