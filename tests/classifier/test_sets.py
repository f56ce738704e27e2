"""Prediction sets hold what they promise, for every kind of task, and refuse what they cannot."""

from dataclasses import replace

import numpy as np
import pytest
from helpers import blobs, features_model
from helpers_photos import clouds, small_regression

from samovar import FewShotClassifier
from samovar.classifier.sets import SetMethod, SetRequest, predict_sets
from samovar.errors import DataError, ModelError, SettingsError
from samovar.prediction.conformal import nonconformity
from samovar.prediction.rejection import RATES, ShapeThresholds
from samovar.prediction.transferred_quantiles import TransferredQuantiles


def regression(each: int = 6, quantiles: TransferredQuantiles | None = None) -> FewShotClassifier:
    saved = replace(small_regression(), set_quantiles=quantiles)
    return FewShotClassifier(saved, samples=32).fit(*clouds(0, 4, each))


def network(each: int = 6) -> FewShotClassifier:
    return FewShotClassifier(features_model(5), samples=8).fit(*blobs(each=each))


def transferred() -> TransferredQuantiles:
    quantiles = tuple(np.linspace(0.3, 0.9, len(RATES)).tolist())
    return TransferredQuantiles("made-up tasks", (ShapeThresholds(5, 1, quantiles),))


@pytest.mark.parametrize("made", [regression, network])
def test_lists_and_arrays_say_the_same(made):
    classifier = made()
    queries = (clouds if made is regression else blobs)(3)[0]
    chosen = classifier.prediction_sets(queries, 0.9, labels=False)
    listed = classifier.prediction_sets(queries, confidence_level=0.9)
    assert chosen.shape == (len(queries), 4)
    assert chosen.dtype == bool
    probabilities = classifier.predict_proba(queries)
    for row, names, answer in zip(chosen, listed, probabilities, strict=True):
        assert sorted(names) == classifier.classes_[row].tolist()
        assert np.all(np.diff([answer[name] for name in names]) <= 0)  # most probable first


@pytest.mark.parametrize("per_class", [False, True])
def test_the_support_of_a_regression_covers_as_promised(per_class):
    """Over many tasks, at least 80 % of new images have their class in the set."""
    covered = []
    for seed in range(25):
        vectors, labels = clouds(seed, 3, 9)
        noise = np.random.default_rng(seed)
        vectors = vectors + noise.normal(scale=2, size=vectors.shape).astype(np.float32)
        new = np.arange(27) % 9 >= 6
        classifier = FewShotClassifier(small_regression(), samples=8)
        classifier.fit(vectors[~new], labels[~new])
        sets = classifier.prediction_sets(vectors[new], 0.8, labels=False, per_class=per_class)
        covered.append(sets[np.arange(9), labels[new]])
    assert np.mean(covered) >= 0.8 - 2 * np.std(np.mean(covered, 1)) / 5
    assert np.mean(covered) < 1


@pytest.mark.parametrize("made", [regression, network])
def test_calibration_makes_sets_by_held_out_images_only(made):
    classifier = made(2)
    source = clouds if made is regression else blobs
    held_out, labels = source(5, 4, 5)
    classifier.calibrate(held_out, labels)
    probabilities = classifier.predict_proba(held_out)
    scores = np.sort(nonconformity(probabilities)[np.arange(20), labels])
    queries = source(6)[0]
    expected = nonconformity(classifier.predict_proba(queries)) <= scores[18]  # the 19th of 20
    assert (classifier.prediction_sets(queries, 0.9, labels=False) == expected).all()
    assert "split conformal: at least 90 % of new images" in classifier.sets_note(0.9)
    with pytest.raises(SettingsError, match=r"need 9 held-out images of each class.*there are 5"):
        classifier.prediction_sets(queries, 0.9, per_class=True)


def test_levels_that_the_support_cannot_bear_are_refused():
    vectors, labels = clouds(0, 2, 2)
    classifier = FewShotClassifier(small_regression(), samples=8).fit(vectors, labels)
    assert "at least 80 %" in classifier.sets_note(0.8)
    with pytest.raises(SettingsError, match=r"90 % need 9 support images.*at most 80 %"):
        classifier.prediction_sets(vectors, 0.9)
    with pytest.raises(SettingsError, match=r"need 4 support images of each class.*66\.6 %"):
        classifier.prediction_sets(vectors, 0.8, per_class=True)
    with pytest.raises(SettingsError, match="between 0 and 1"):
        classifier.prediction_sets(vectors, 90)


def test_one_image_of_each_class_takes_quantiles_of_other_tasks_without_a_guarantee():
    classifier = regression(1, transferred())
    queries = clouds(7)[0]
    expected = nonconformity(classifier.predict_proba(queries)) <= transferred().quantile(4, 0.9)
    assert (classifier.prediction_sets(queries, 0.9, labels=False) == expected).all()
    assert classifier.sets_note(0.9).startswith("transferred: no guarantee")
    few = replace(transferred(), cells=(replace(transferred().cells[0], way=3),))
    assert "at most 3 classes, and is too small for 4" in regression(1, few).sets_note()
    with pytest.raises(SettingsError, match="cannot be made per class"):
        classifier.prediction_sets(queries, 0.9, per_class=True)
    with pytest.raises(ModelError, match="this model has none"):
        regression(1).prediction_sets(queries, 0.9)


def test_what_is_guaranteed_and_how_is_in_the_json():
    classifier = regression()
    fitted, parameters = classifier.fitted_, classifier._parameters
    nothing = np.zeros((0, 4))
    made = predict_sets(fitted, [], nothing, SetRequest(0.9), parameters)
    assert made.members.shape == (0, 4)
    assert made.to_json() == {
        "confidence": 0.9,
        "per_class": False,
        "method": "full conformal",
        "guaranteed": True,
        "note": made.note,
    }
    left_out = network()
    by_others = predict_sets(left_out.fitted_, [], nothing, SetRequest(0.9), parameters)
    assert by_others.method == SetMethod.LEAVE_ONE_OUT
    assert not by_others.guaranteed
    assert "no guarantee" in by_others.note


@pytest.mark.parametrize("made", [regression, network])
def test_saved_tasks_make_the_same_sets_until_they_grow(made, tmp_path):
    classifier = made()
    source = clouds if made is regression else blobs
    queries = source(8)[0]
    saved = classifier.saved_
    for calibrated in (False, True):
        if calibrated:
            classifier.calibrate(*source(9))
        path = classifier.save(tmp_path / f"{calibrated}.safetensors")
        loaded = FewShotClassifier.load(path, saved)
        expected = classifier.prediction_sets(queries, 0.9, labels=False)
        assert (loaded.prediction_sets(queries, 0.9, labels=False) == expected).all()
        assert loaded.sets_note() == classifier.sets_note()
    with pytest.warns(UserWarning, match="calibrated with 24 held-out images.*calibrate it again"):
        classifier.partial_fit(*source(10, 4, 1))
    assert "split conformal" not in classifier.sets_note()


def test_a_loaded_network_that_grows_has_no_left_out_images(tmp_path):
    classifier = network()
    path = classifier.save(tmp_path / "t.safetensors")
    loaded = FewShotClassifier.load(path, classifier.saved_)
    loaded.partial_fit(*blobs(3, each=1))
    with pytest.raises(ModelError, match="Fit it again with all images, or calibrate"):
        loaded.prediction_sets(blobs(4)[0])
    loaded.calibrate(*blobs(5))
    assert "24 held-out" in loaded.sets_note()


def test_images_of_the_support_cannot_calibrate():
    classifier = regression()
    vectors, labels = clouds()
    with pytest.raises(DataError, match="3 of 3 images for calibration are among those"):
        classifier.calibrate(vectors[:3], labels[:3])
    with pytest.raises(DataError, match="no class 7"):
        classifier.calibrate(clouds(4)[0][:1], [7])
