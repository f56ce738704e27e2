"""Class folders are fitted without copies, in Python as on the command line."""

import shutil

import numpy as np
import pytest
from helpers_photos import draw_photos, small_regression

from samovar.classifier.estimator import FewShotClassifier


@pytest.fixture
def photos(tmp_path):
    return draw_photos(tmp_path / "photos", {"disc": 3, "bars": 3}, side=40)


def test_a_copy_in_a_class_folder_is_left_out_with_a_warning(photos):
    plain = FewShotClassifier(small_regression()).fit(photos)
    shutil.copy(photos / "disc/0.jpg", photos / "disc/again.jpg")
    with pytest.warns(UserWarning, match=r"1 copy was left out: disc/again.jpg") as caught:
        copied = FewShotClassifier(small_regression()).fit(photos)
    assert caught[0].filename == __file__
    queries = sorted(photos.glob("*/*.jpg"))
    np.testing.assert_array_equal(copied.predict_proba(queries), plain.predict_proba(queries))
    assert copied.support_.names == plain.support_.names


def test_the_same_image_in_two_classes_stays_and_is_named(photos):
    shutil.copy(photos / "disc/0.jpg", photos / "bars/wrong.jpg")
    with pytest.warns(UserWarning, match="the same image is in two classes"):
        classifier = FewShotClassifier(small_regression()).fit(photos)
    assert len(classifier.support_.names) == 7


def test_adding_the_same_folder_again_changes_nothing(photos):
    classifier = FewShotClassifier(small_regression()).fit(photos)
    before = classifier.predict_proba(photos)
    with pytest.warns(UserWarning, match="6 images were left out"):
        classifier.partial_fit(photos)
    np.testing.assert_array_equal(classifier.predict_proba(photos), before)
    assert len(classifier.support_.names) == 6


def test_images_with_labels_are_used_as_they_are_given(photos):
    paths = [*sorted(photos.glob("*/*.jpg")), photos / "disc/0.jpg"]
    labels = [path.parent.name for path in paths]
    assert len(FewShotClassifier(small_regression()).fit(paths, labels).support_.names) == 7
