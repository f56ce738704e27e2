"""The predictors have the names of stored files, and the flags of the command line."""

import pytest

from samovar.evaluation.predictors import Predictor


def test_names_are_those_of_stored_evaluations():
    names = ["predictive", "mean_classifier", "predictive_tempered", "mean_classifier_tempered"]
    assert list(Predictor) == names
    assert f"{Predictor.PREDICTIVE}_accuracy" == "predictive_accuracy"


@pytest.mark.parametrize("predictor", Predictor)
def test_every_predictor_has_a_tempered_form_and_a_label(predictor):
    assert predictor.tempered.is_tempered
    assert predictor.tempered.tempered is predictor.tempered
    assert predictor.tempered.startswith(predictor.removesuffix("_tempered"))
    assert predictor.label


def test_labels_differ():
    assert len({predictor.label for predictor in Predictor}) == len(Predictor)
