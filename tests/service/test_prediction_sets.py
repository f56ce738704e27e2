"""Every image has a guaranteed set, or none where none can be guaranteed."""

import pytest
from helpers_photos import clouds, small_regression, vector_list

from samovar.classifier.answer import AnswerParameters
from samovar.classifier.fitted_regression import fit_regression
from samovar.classifier.sets import SetRequest, predict_sets
from samovar.classifier.task_file import TaskInfo
from samovar.service.prediction_sets import CONFIDENCE, prediction_sets
from samovar.service.stored_task import StoredTask


@pytest.mark.parametrize("each", [1, 3, 6])
def test_sets_are_those_of_the_classifier_where_there_are_enough_examples(each):
    vectors, labels = clouds(classes=2, each=each)
    saved = small_regression()
    inputs = vector_list(vectors)
    fitted = fit_regression(saved, inputs, labels.tolist())
    parameters = AnswerParameters()
    info = TaskInfo("photos", saved.identity, parameters)
    asked = vector_list(clouds(classes=2, each=2, seed=5)[0])
    probabilities = fitted.answer(asked, parameters).probabilities
    sets = prediction_sets(StoredTask("0" * 16, fitted, info, 0.0), asked, probabilities)
    if each < 5:
        assert sets == [None] * 4, "90 % needs nine images whose class has another"
        return
    expected = predict_sets(fitted, asked, probabilities, SetRequest(CONFIDENCE), parameters)
    assert sets == expected.listed(probabilities, ["0", "1"])
