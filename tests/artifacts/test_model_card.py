"""The card says what is known of a model, and guesses nothing."""

from dataclasses import asdict

from helpers_training import TINY

from samovar.artifacts.model_card import model_card, regression_card
from samovar.artifacts.training_record import TestResult, TrainingRecord, ValidationResult
from samovar.models.closed_form import ClosedForm
from samovar.models.few_shot_model import FewShotModel


def test_the_card_tells_data_accuracy_and_recipe():
    record = TrainingRecord("toy", licence="free", settings=asdict(TINY))
    record = record.with_test(ValidationResult(0.5, 4), TestResult(0.5, 0.01), "3-way")
    model = FewShotModel(TINY.model)
    card = model_card(model, record)
    assert "# samovar with conv4, trained on toy" in card
    assert f"{sum(parameter.numel() for parameter in model.parameters()):,} parameters" in card
    assert "| test accuracy, 3-way | 50.00 ± 1.00 % |" in card
    assert "Trained by 12 updates of 2 tasks each (3-way 2-shot; adam at 0.001, one_cycle)" in card
    assert "Data licence: free." in card


def test_the_card_tells_ranges_of_ways_and_shots():
    settings = asdict(TINY)
    settings["episodes"] |= {"way": 5, "shot": 1, "most_way": 10, "most_shot": None}
    card = model_card(FewShotModel(TINY.model), TrainingRecord(settings=settings))
    assert "(5- to 10-way 1-shot; " in card


def test_the_card_of_an_unknown_training_guesses_nothing():
    partial = {"updates": 3, "seed": 0}
    card = model_card(FewShotModel(TINY.model), TrainingRecord(settings=partial))
    assert "trained on unknown data" in card
    assert "Trained by" not in card
    assert "Data licence: unknown." in card


def test_the_card_of_a_regression_names_encoder_data_and_limits():
    record = TrainingRecord("birds", licence="research use", figures={"accuracy": "96 %"})
    card = regression_card(ClosedForm(), "efficientnet_lite0", record)
    assert "# Bayesian linear regression on the vectors of efficientnet_lite0" in card
    assert "10 numbers are learned" in card
    assert "Learned on tasks of: birds." in card
    assert "Licences: research use." in card
    assert "| accuracy | 96 % |" in card
    assert "unknown data" in regression_card(ClosedForm(), "mine", TrainingRecord())


def test_the_card_names_the_encoder_if_there_is_one():
    model = FewShotModel(TINY.model)
    assert "the encoder tiny.onnx" in model_card(model, TrainingRecord(), "tiny.onnx")
    assert "encoder" not in model_card(model, TrainingRecord())
