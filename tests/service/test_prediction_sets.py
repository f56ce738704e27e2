"""Every image has a set, or none where none can be given."""

from helpers_photos import clouds, small_regression, vector_list

from samovar.classifier.answer import AnswerParameters
from samovar.classifier.fitted_regression import fit_regression
from samovar.classifier.task_file import TaskInfo
from samovar.service.prediction_sets import prediction_sets
from samovar.service.stored_task import StoredTask


def test_there_is_an_entry_for_each_image():
    vectors, labels = clouds(classes=2, each=3)
    saved = small_regression()
    inputs = vector_list(vectors)
    fitted = fit_regression(saved, inputs, labels.tolist())
    info = TaskInfo("photos", saved.identity, AnswerParameters())
    probabilities = fitted.answer(inputs[:4], info.parameters).probabilities
    sets = prediction_sets(StoredTask("0" * 16, fitted, info, 0.0), inputs[:4], probabilities)
    assert len(sets) == 4
    for members in sets:
        assert members is None or set(members) <= {"0", "1"}
