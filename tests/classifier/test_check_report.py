"""The report names wrong labels, duplicates, classes alike, small classes and other cameras."""

import json

import numpy as np
import pytest
from helpers_images import glyph
from helpers_photos import clouds, small_regression

import samovar


def fitted(vectors: np.ndarray, labels) -> samovar.FewShotClassifier:
    return samovar.FewShotClassifier(small_regression()).fit(vectors, labels)


@pytest.fixture(scope="module")
def wide():
    """Vectors of 48 numbers around four classes, which are far from being duplicates."""
    vectors, labels = clouds(each=8)
    return vectors**3, labels


def test_a_sound_task_is_clean(wide):
    report = fitted(*wide).check()
    assert report.clean
    assert report.images == 32
    assert report.camera is None
    assert json.loads(json.dumps(report.to_json()))["clean"] is True


def test_a_wrong_label_is_named_with_the_answer(wide):
    vectors, labels = wide
    labels = labels.copy()
    labels[3] = 2
    (suspect,) = fitted(vectors, labels).check().suspects
    assert (suspect.image, suspect.label, suspect.answer) == (3, 2, 0)
    assert suspect.wrong > 0.5 > suspect.given


def test_duplicates_within_and_across_classes_are_told_apart(wide):
    vectors, labels = wide
    within = np.concatenate([vectors, vectors[:1] * 1.01, vectors[9:10] * 1.01])
    report = fitted(within, np.concatenate([labels, [0, 3]])).check()
    across, inside = report.duplicates
    assert across.across
    assert set(across.images) == {9, 33}
    assert not inside.across
    assert report.redundant() == [32]


def test_copies_do_not_vouch_for_a_wrong_label(wide):
    """Three copies of one image, all with the same wrong label, are one voice."""
    vectors, labels = wide
    vectors = np.concatenate([vectors, vectors[3:4] * 1.01, vectors[3:4] * 0.99])
    labels = np.concatenate([labels, [2, 2]])
    labels[3] = 2
    report = fitted(vectors, labels).check()
    assert [suspect.image for suspect in report.suspects] == [3]


def test_classes_that_are_the_same_are_named(wide):
    vectors, labels = wide
    split = labels.copy()
    split[np.flatnonzero(labels == 3)[::2]] = 7
    report = fitted(vectors, split).check()
    (pair,) = report.mixed
    assert {pair.first, pair.second} == {3, 7}
    assert pair.images == 8


def test_small_classes_are_counted_without_copies(wide):
    vectors, labels = wide
    kept = (labels < 3) | (np.arange(32) == 31)
    vectors = np.concatenate([vectors[kept], vectors[31:] * 1.01])
    report = fitted(vectors, np.concatenate([labels[kept], [3]])).check()
    (small,) = report.small
    assert (small.label, small.images) == (3, 1)


def test_new_images_of_another_camera_are_noticed(wide):
    vectors, labels = wide
    classifier = fitted(vectors[::2], labels[::2])
    assert not classifier.check(vectors[1::2]).camera.changed
    cast = vectors[1::2] + np.linspace(0, vectors.mean() * 3, 48, dtype=np.float32)
    report = classifier.check(cast)
    assert report.camera.changed
    assert not report.clean
    assert report.to_json()["camera"]["changed"] is True


def test_a_small_model_does_not_look_for_duplicates():
    images = [glyph(seed, variant) for seed in (100, 101) for variant in range(3)]
    report = samovar.FewShotClassifier("glyphs").fit(images, ["a"] * 3 + ["b"] * 3).check()
    assert report.duplicates is None
    assert report.clean
