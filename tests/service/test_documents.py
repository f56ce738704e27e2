"""Documents have the names that clients know."""

from datetime import datetime

from helpers_photos import clouds, small_regression, vector_list

from samovar.classifier.answer import AnswerParameters
from samovar.classifier.fitted_regression import fit_regression
from samovar.classifier.task_file import TaskInfo
from samovar.service.documents import TaskDocument, summary_of, task_fields
from samovar.service.models import Models
from samovar.service.stored_task import StoredTask, id_of


def test_labels_that_are_numbers_are_shown_as_text():
    vectors, labels = clouds(classes=2, each=3)
    saved = small_regression()
    fitted = fit_regression(saved, vector_list(vectors), labels.tolist())
    info = TaskInfo("photos", saved.identity, AnswerParameters())
    task = StoredTask("0" * 16, fitted, info, 1e9)
    models = Models("photos")
    assert [entry.name for entry in summary_of(task, models).classes] == ["0", "1"]
    document = TaskDocument.model_validate(task_fields(task, models, set(), keeps=False))
    assert document.classes[1].id == id_of(1) != id_of("1")
    assert [example.label for example in document.examples] == ["0"] * 3 + ["1"] * 3
    assert datetime.fromisoformat(document.changed).timestamp() == 1e9
    assert document.rejection == "nothing is rejected (reject=None)"
