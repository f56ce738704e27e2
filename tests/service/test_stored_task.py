"""Ids follow from content, so that every process gives the same ones."""

import pytest
import torch
from helpers_photos import clouds, small_regression, vector_list

from samovar.classifier.answer import AnswerParameters
from samovar.classifier.fitted_regression import fit_regression
from samovar.classifier.support_names import SupportNames
from samovar.classifier.task_file import TaskInfo
from samovar.service.problems import Problem
from samovar.service.stored_task import StoredTask, with_labels_of


def stored(names: SupportNames | None = None, labels=None) -> StoredTask:
    vectors, numbers = clouds(classes=3, each=4)
    saved = small_regression()
    labels = numbers.tolist() if labels is None else labels
    fitted = fit_regression(saved, vector_list(vectors), labels)
    info = TaskInfo("photos", saved.identity, AnswerParameters(), support=names)
    return StoredTask("0" * 16, fitted, info, 0.0)


def test_examples_without_names_get_names_and_ids_by_their_vectors():
    task = stored()
    assert [example.name for example in task.examples][:2] == ["example 1", "example 2"]
    ids = [example.id for example in task.examples]
    assert len(set(ids)) == 12
    assert ids == [example.id for example in stored().examples]


def test_an_image_twice_in_a_class_has_two_ids():
    names = SupportNames(
        ("a",) * 12, tuple(clouds(classes=3, each=4)[1].tolist()), ("x" * 16,) * 12
    )
    assert len({example.id for example in stored(names).examples}) == 12


def test_what_is_left_is_fitted_as_if_the_rest_had_never_been_there():
    task = stored()
    fitted, names = task.without({0, 5})
    vectors, numbers = clouds(classes=3, each=4)
    kept = [position for position in range(12) if position not in (0, 5)]
    expected = fit_regression(
        task.fitted.saved, vector_list(vectors[kept]), [int(numbers[place]) for place in kept]
    )
    query = vector_list(vectors[:2])
    parameters = AnswerParameters()
    torch.testing.assert_close(
        fitted.predict(query, parameters).probabilities,
        expected.predict(query, parameters).probabilities,
    )
    assert names.labels == tuple(int(numbers[place]) for place in kept)


def test_the_last_example_stays():
    with pytest.raises(Problem, match="at least one example"):
        stored().without(set(range(12)))


def test_new_examples_join_classes_that_are_numbers():
    names = SupportNames(("n", "m"), ("1", "new"), ("a" * 16, "b" * 16))
    assert with_labels_of(stored(), names).labels == (1, "new")


def test_wrong_examples_are_known_by_position():
    numbers = clouds(classes=3, each=4)[1].tolist()
    numbers[0] = 1
    task = stored(labels=numbers)
    assert task.wrong[0] == 0
    assert task.measured.accuracy < 1
