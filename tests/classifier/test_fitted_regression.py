"""A fitted regression answers, grows, rejects and saves itself like every fitted model."""

import json
from dataclasses import replace

import numpy as np
import pytest
import torch
from helpers_photos import LENGTH, clouds, small_regression, vector_list
from hypothesis import given, settings
from hypothesis import strategies as st
from safetensors.torch import save_file
from sklearn.base import clone
from sklearn.model_selection import cross_val_score

from samovar import FewShotClassifier
from samovar.classifier.answer import AnswerParameters
from samovar.classifier.fitted_regression import fit_regression
from samovar.classifier.task_file import read_task, write_task
from samovar.errors import DataError, ModelError

PARAMETERS = AnswerParameters(samples=64)


def fitted_to(vectors, labels):
    return fit_regression(small_regression(), vector_list(vectors), list(labels))


@given(st.permutations(range(24)), st.integers(1, 23))
@settings(max_examples=15)
def test_growing_in_any_order_is_fitting_everything_at_once(order, cut):
    vectors, labels = clouds()
    whole = FewShotClassifier(small_regression()).fit(vectors, labels)
    first, second = list(order[:cut]), list(order[cut:])
    parts = FewShotClassifier(small_regression()).partial_fit(vectors[first], labels[first])
    parts.partial_fit(vectors[second], labels[second])
    assert parts.classes_.tolist() == whole.classes_.tolist()
    queries = clouds(1)[0]
    np.testing.assert_allclose(
        parts.predict_proba(queries), whole.predict_proba(queries), atol=1e-5
    )
    np.testing.assert_allclose(
        parts.answer(queries).distance, whole.answer(queries).distance, atol=1e-5
    )


@pytest.mark.parametrize(
    "counts", [[1, 1], [3], [1], [1, 4, 2], [5] * 30, [1] * 100, [2, 1, 1, 1, 1]]
)
def test_any_ways_and_shots_are_answered(counts):
    vectors, _ = clouds(classes=len(counts), each=max(counts))
    labels = np.repeat(np.arange(len(counts)), counts)
    rows = np.concatenate([np.arange(c) + i * max(counts) for i, c in enumerate(counts)])
    fitted = fitted_to(vectors[rows], labels)
    queries = clouds(1, len(counts), 2)[0]
    answer = fitted.answer(vector_list(queries), replace(PARAMETERS, reject=0.05))
    assert answer.probabilities.shape == (len(queries), len(counts))
    np.testing.assert_allclose(answer.probabilities.sum(1), 1)
    assert np.isfinite(answer.distance).all()
    assert np.isfinite(answer.uncertainty.entropy).all()
    measured = fitted.leave_one_out(PARAMETERS)
    able = sum(count for count in counts if count > 1)
    assert (measured.images if measured else 0) == able


def test_duplicates_change_nothing_that_matters():
    vectors, labels = clouds(classes=3, each=2)
    fitted = fitted_to(np.repeat(vectors, 3, 0), np.repeat(labels, 3))
    same = fitted_to(np.repeat(vectors[:1], 4, 0), [0, 0, 0, 0])
    answer = fitted.answer(vector_list(vectors), PARAMETERS)
    assert answer.labels.tolist() == labels.tolist()
    alone = same.answer(vector_list(vectors), replace(PARAMETERS, reject=0.05))
    assert np.isfinite(alone.distance).all()
    assert (alone.probabilities == 1).all()


def test_one_class_is_accepted_or_none_of_these():
    vectors, _ = clouds(classes=1, each=8)
    fitted = fitted_to(vectors, ["mine"] * 8)
    parameters = replace(PARAMETERS, reject=0.05)
    ours = fitted.answer(vector_list(clouds(1, 1, 20)[0]), parameters)
    others = fitted.answer(vector_list(clouds(1, 4, 20)[0][20:]), parameters)
    assert (ours.probabilities == 1).all()
    assert (ours.labels == "mine").mean() > 0.8
    assert (others.labels == "none of these").mean() > 0.8
    assert np.median(ours.distance) < np.median(others.distance)


def test_what_belongs_to_no_class_is_farther_and_rejected_more_often():
    vectors, labels = clouds(classes=6)
    fitted = fitted_to(vectors[:18], labels[:18])
    queries, truths = clouds(1, 6, 20)
    answer = fitted.answer(vector_list(queries), replace(PARAMETERS, reject=0.1))
    inside = truths < 3
    assert np.median(answer.distance[inside]) < np.median(answer.distance[~inside])
    assert answer.rejected[inside].mean() < answer.rejected[~inside].mean()
    threshold = fitted.threshold(0.1)
    assert (answer.rejected == (answer.distance > threshold)).all()
    assert "adapted to these images" in fitted.rejection_note(0.1)
    assert "nothing is rejected" in fitted.rejection_note(None)


def test_an_extended_model_is_new_and_the_old_one_is_as_it_was():
    vectors, labels = clouds(classes=3)
    first = fitted_to(vectors[:12], labels[:12])
    grown = first.extended(vector_list(vectors[12:]), labels[12:].tolist())
    assert first.classes.tolist() == [0, 1]
    assert grown.classes.tolist() == [0, 1, 2]
    with pytest.raises(DataError, match="at least one image"):
        first.extended([], [])


def test_the_spread_is_that_of_the_sampled_classifiers():
    vectors, labels = clouds()
    fitted = fitted_to(vectors, labels)
    parameters = AnswerParameters()
    inputs = vector_list(vectors[:3])
    spread = fitted.answer(inputs, parameters).spread
    expected = fitted.predict(inputs, parameters).spread
    np.testing.assert_allclose(spread, expected[0].numpy(), atol=1e-6)
    assert (spread > 0).any()


def test_no_images_have_no_answers():
    answer = fitted_to(*clouds()).answer([], replace(PARAMETERS, reject=0.05))
    assert answer.probabilities.shape == (0, 4)
    assert len(answer.labels) == len(answer.distance) == 0


def test_leave_one_out_is_right_about_the_accuracy_on_new_images():
    """Labels at random are not learned, and leaving out says so."""
    vectors, labels = clouds(each=12)
    assert fitted_to(vectors, labels).leave_one_out(PARAMETERS).accuracy > 0.8
    shuffled = np.random.default_rng(0).permutation(labels)
    assert fitted_to(vectors, shuffled).leave_one_out(PARAMETERS).accuracy < 0.5


def test_it_is_a_scikit_learn_classifier_of_images(tmp_path):
    noise = np.random.default_rng(0)
    labels = np.repeat(["dark", "light"], 6)
    shades = np.where(labels == "dark", 60, 190)[:, None, None, None]
    images = (shades + noise.integers(-40, 40, (12, 20, 24, 3))).astype(np.uint8)
    images[:6, :10] += 60  # the sky; directions are compared, not brightness
    classifier = FewShotClassifier(small_regression(), samples=32, reject=0.05)
    assert cross_val_score(classifier, images, labels, cv=3).mean() > 0.6
    copy = clone(classifier).fit(images, labels)
    assert copy.score(images, labels) > 0.8
    assert copy.leave_one_out()["images"] == 12
    assert copy.uncertainty(images).entropy.shape == (12,)
    assert copy.spread_ is None
    path = copy.save(tmp_path / "t.safetensors")
    loaded = FewShotClassifier.load(path, small_regression())
    np.testing.assert_array_equal(loaded.predict_proba(images), copy.predict_proba(images))
    assert loaded.leave_one_out() == copy.leave_one_out(), "the vectors are still there"


def test_a_task_of_another_model_is_refused(tmp_path):
    vectors, labels = clouds()
    path = FewShotClassifier(small_regression()).fit(vectors, labels).save(tmp_path / "t")
    other = small_regression()
    with torch.no_grad():
        other.model.ridge.add_(1)
    with pytest.raises(ModelError, match="another model"):
        FewShotClassifier.load(path, other)
    task, info = read_task(path)
    write_task(path, replace(task, vectors=task.vectors[:, :5].contiguous()), info)
    with pytest.raises(ModelError, match="does not fit the model"):
        FewShotClassifier.load(path, small_regression())


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("vectors", torch.full((24, LENGTH), float("nan"))),
        ("vectors", torch.full((24, LENGTH), 1e30)),
        ("vectors", torch.zeros(24, LENGTH, dtype=torch.float64)),
        ("vectors", torch.zeros(23, LENGTH)),
        ("vectors", torch.zeros(24)),
        ("numbers", torch.full((24,), 4)),
        ("numbers", torch.full((24,), -1)),
        ("numbers", torch.zeros(24, dtype=torch.int64)),
        ("numbers", torch.zeros(24)),
        ("more", torch.zeros(1)),
        ("classes", [0, 0, 1, 2]),
        ("classes", [0, 1, 2, [3]]),
        ("format", 3),
    ],
)
def test_hostile_task_files_are_refused(tmp_path, field, value):
    vectors, labels = clouds()
    path = FewShotClassifier(small_regression()).fit(vectors, labels).save(tmp_path / "t")
    task, info = read_task(path)
    head = {"format": 2, "library": "samovar", "classes": list(task.classes), "model": "m"}
    parameters = {"samples": 4, "reject": None, "reject_label": "none", "seed": 0}
    head |= {"identity": info.identity, "parameters": parameters}
    tensors = {"vectors": task.vectors, "numbers": task.numbers}
    (tensors if isinstance(value, torch.Tensor) else head)[field] = value
    save_file(tensors, path, {"samovar": json.dumps(head)})
    with pytest.raises(ModelError):
        FewShotClassifier.load(path, small_regression())


@given(st.integers(0, 10_000), st.integers(0, 255))
@settings(max_examples=40)
def test_damaged_task_files_are_refused_or_harmless(tmp_path_factory, position, value):
    vectors, labels = clouds(classes=2)
    model = small_regression()
    folder = tmp_path_factory.mktemp("task")
    path = FewShotClassifier(model).fit(vectors, labels).save(folder / "t.safetensors")
    content = bytearray(path.read_bytes())
    content[position % len(content)] = value
    path.write_bytes(content)
    try:
        loaded = FewShotClassifier.load(path, model)
        assert np.isfinite(loaded.predict_proba(vectors)).all()
    except (ModelError, ValueError):
        pass
