"""The predictors have the names of stored files, and the flags of the command line."""

import pytest

from samovar.evaluation.predictors import OF_MODEL, RIVALS, Predictor


def test_names_are_those_of_stored_evaluations():
    names = ["predictive", "mean_classifier", "predictive_tempered", "mean_classifier_tempered"]
    assert list(OF_MODEL) == [*names, "calibrated"]
    assert f"{Predictor.PREDICTIVE}_accuracy" == "predictive_accuracy"


def test_a_calibrated_predictor_has_its_temperature_from_the_model():
    assert Predictor.CALIBRATED.tempered is Predictor.CALIBRATED
    assert not Predictor.CALIBRATED.is_tempered


@pytest.mark.parametrize("predictor", sorted(set(Predictor) - {Predictor.CALIBRATED}))
def test_every_other_predictor_has_a_tempered_form_and_a_label(predictor):
    assert predictor.tempered.is_tempered
    assert predictor.tempered.tempered is predictor.tempered
    assert predictor.tempered.startswith(predictor.removesuffix("_tempered"))
    assert predictor.label
    assert predictor.untempered.tempered in (predictor, predictor.tempered)
    assert not predictor.untempered.is_tempered


def test_labels_differ():
    assert len({predictor.label for predictor in Predictor}) == len(Predictor)


def test_a_predictor_is_of_the_model_or_a_rival():
    rivals = {predictor for predictor in Predictor if predictor.is_rival}
    assert rivals == {*RIVALS, *(rival.tempered for rival in RIVALS)}
    assert rivals | set(OF_MODEL) == set(Predictor)
    assert not rivals & set(OF_MODEL)
