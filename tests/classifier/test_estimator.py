"""FewShotClassifier keeps scikit-learn's conventions and its own promises."""

import json
import math
import pickle
import subprocess
import sys
from dataclasses import replace

import numpy as np
import pytest
from helpers import blobs, features_model, image_model
from helpers_photos import draw_photos, patch_encoder, small_regression
from hypothesis import given, settings
from hypothesis import strategies as st
from PIL import Image
from sklearn.metrics import accuracy_score
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import FunctionTransformer
from sklearn.utils.estimator_checks import parametrize_with_checks

from samovar import FewShotClassifier
from samovar.errors import ModelError, SettingsError
from samovar.models.backbones.layers import norm_modes, set_norm
from samovar.prediction.rejection import RATES, Rejection, ShapeThresholds


class OnFeatures(FewShotClassifier):
    """For scikit-learn's checks, which fit tables of many widths: a model of the table's width."""

    def fit(self, X, y=None):  # noqa: N803
        return self._take(self._of_width(X).fit(X, y))

    def partial_fit(self, X, y=None, classes=None):  # noqa: N803
        if hasattr(self, "fitted_"):
            return super().partial_fit(X, y, classes)
        return self._take(self._of_width(X).partial_fit(X, y, classes))

    def _of_width(self, table) -> FewShotClassifier:
        shape = np.asarray(table).shape
        width = max(1, shape[1]) if len(shape) == 2 else 1
        parameters = self.get_params() | {"model": features_model(width)}
        return FewShotClassifier(**parameters)

    def _take(self, fitted: FewShotClassifier) -> "OnFeatures":
        learned = {name: value for name, value in vars(fitted).items() if name.endswith("_")}
        vars(self).update(learned)
        return self


EXPECTED_FAILURES: dict[str, str] = {}


@parametrize_with_checks(
    [OnFeatures(samples=4)], expected_failed_checks=lambda _: EXPECTED_FAILURES
)
def test_scikit_learns_own_checks(estimator, check):
    check(estimator)


def test_pipeline_cross_validation_and_grid_search():
    features, labels = blobs(each=12)
    rejection = Rejection(
        "test", (ShapeThresholds(4, 5, tuple(np.linspace(0.05, 0.9, len(RATES)))),)
    )
    model = replace(features_model(5, method="samovar", classifier="linear"), rejection=rejection)
    classifier = FewShotClassifier(model, samples=8)
    pipeline = Pipeline(
        [
            ("double", FunctionTransformer(lambda x: 2 * x)),
            ("classify", FewShotClassifier(features_model(5))),
        ]
    )
    assert cross_val_score(pipeline, features, labels, cv=3).mean() > 0.8
    search = GridSearchCV(classifier, {"reject": [None, 0.3], "samples": [4, 16]}, cv=2).fit(
        features, labels
    )
    assert set(search.cv_results_["param_samples"]) == {4, 16}
    scores = search.cv_results_["mean_test_score"].reshape(2, 2)  # (reject, samples)
    assert (scores[0] >= scores[1]).all(), "an image that is rejected counts as wrong"
    best = FewShotClassifier(model, **search.best_params_)
    assert search.best_score_ == pytest.approx(cross_val_score(best, features, labels, cv=2).mean())
    assert search.best_score_ > 0.5, "chance is 0.25"


@given(st.permutations(range(24)), st.integers(1, 23))
@settings(max_examples=20)
def test_partial_fit_in_any_order_is_fit_on_everything(order, cut):
    features, labels = blobs()
    model = features_model(5, method="samovar", classifier="linear")
    whole = FewShotClassifier(model, samples=16).fit(features, labels)
    first, second = list(order[:cut]), list(order[cut:])
    parts = FewShotClassifier(model, samples=16).partial_fit(features[first], labels[first])
    parts.partial_fit(features[second], labels[second])
    assert parts.classes_.tolist() == whole.classes_.tolist()
    np.testing.assert_allclose(
        parts.predict_proba(features), whole.predict_proba(features), atol=1e-5
    )


def test_a_folder_needs_no_labels(tmp_path):
    for name, value in (("dark", 10), ("bright", 240)):
        (tmp_path / name).mkdir()
        for i in range(2):
            Image.new("RGB", (20, 15), (value, value, value + i)).save(tmp_path / name / f"{i}.png")
    classifier = FewShotClassifier(image_model(), samples=8).fit(tmp_path)
    assert classifier.classes_.tolist() == ["bright", "dark"]
    assert classifier.task_.counts.tolist() == [2, 2]


def test_one_query_does_not_change_another():
    features, labels = blobs()
    classifier = FewShotClassifier(
        features_model(5, method="samovar", classifier="cosine"), samples=16
    ).fit(features, labels)
    together = classifier.predict_proba(features)
    alone = np.concatenate([classifier.predict_proba(query[None]) for query in features])
    np.testing.assert_allclose(together, alone, atol=1e-5)
    np.testing.assert_allclose(together.sum(1), 1)


def test_uncertainty_and_deterministic_models():
    features, labels = blobs()
    sampled = FewShotClassifier(features_model(5, method="samovar", classifier="linear")).fit(
        features, labels
    )
    entropy, information = sampled.uncertainty(features)
    assert (
        (information >= 0) & (information <= entropy + 1e-6) & (entropy <= math.log(4) + 1e-6)
    ).all()
    assert (
        FewShotClassifier(features_model(5))
        .fit(features, labels)
        .uncertainty(features)
        .mutual_information
        is None
    )


def test_images_far_from_all_classes_are_rejected_however_sure_the_classifier_is():
    features, labels = (
        np.array([[10.0, 1, 0], [10, -1, 0], [1, 10, 0], [-1, 10, 0]]),
        ["a", "a", "b", "b"],
    )
    model = replace(
        features_model(3),
        rejection=Rejection("test", (ShapeThresholds(2, 2, (0.1,) * len(RATES)),)),
    )
    classifier = FewShotClassifier(model, reject=0.05).fit(features, labels)
    strange = np.array([[20.0, 0, 30]])
    assert classifier.predict_proba(strange)[0, 0] > 0.99
    assert classifier.predict(np.vstack([features, strange])).tolist() == [*labels, "none of these"]
    one = FewShotClassifier(model, reject=0.05).fit(features[:2], labels[:2])
    assert one.predict(np.vstack([features, strange])).tolist() == ["a", "a"] + 3 * [
        "none of these"
    ]
    assert one.leave_one_out() == {"images": 2, "accuracy": 1.0, "rejected": 0.0, "wrong": []}


def test_rejected_images_get_the_label_and_keep_their_probabilities():
    features, labels = np.array([[0.0, 9], [0, 11], [9, 0], [11, 0]]), [0, 0, 1, 1]
    thresholds = tuple(np.linspace(1e-3, 1e-2, len(RATES)))
    model = replace(
        features_model(2), rejection=Rejection("test", (ShapeThresholds(4, 5, thresholds),))
    )
    classifier = FewShotClassifier(model, reject=0.5, reject_label=-1).fit(features, labels)
    middle = np.array([[5.0, 5.0]])
    assert classifier.predict(middle).tolist() == [-1]
    assert accuracy_score(labels, classifier.predict(features)) == 1.0, "numbers stay numbers"
    assert classifier.predict_proba(middle).sum() == pytest.approx(1)
    assert "nearest shape that was measured" in classifier.rejection_note
    loo = classifier.leave_one_out()
    assert loo == {"images": 4, "accuracy": 1.0, "rejected": 0.0, "wrong": []}
    for impossible in (3, "x", True):
        with pytest.raises(SettingsError, match="reject must be from"):
            FewShotClassifier(model, reject=impossible).fit(features, labels)
    with pytest.raises(ModelError, match="no thresholds"):
        FewShotClassifier(features_model(2), reject=0.05).fit(features, labels).predict(features)


def test_episode_norm_is_used_by_its_running_averages_or_refused():
    model = image_model(norm="episode")
    images = np.random.default_rng(0).integers(256, size=(4, 12, 12, 3), dtype=np.uint8)
    with pytest.raises(ModelError, match="no running averages"):
        FewShotClassifier(model).fit(images, [0, 0, 1, 1])
    for module in model.model.modules():
        if hasattr(module, "running_var"):
            module.running_var.fill_(2.0)
    answers = FewShotClassifier(model, samples=8).fit(images, [0, 0, 1, 1]).predict_proba(images)
    assert norm_modes(model.model) == {"episode"}, "the user's model stays as it was"
    set_norm(model.model, "running")
    np.testing.assert_allclose(
        answers, FewShotClassifier(model, samples=8).fit(images, [0, 0, 1, 1]).predict_proba(images)
    )


STARTED = """
import json, sys
import numpy as np
import samovar
heavy = ("lightning_fabric", "matplotlib", "torch")
after_import = [name for name in heavy if name in sys.modules]
strokes = np.full((4, 28, 28), 255, np.uint8)
strokes[:2, :, 12:15], strokes[2:, 12:15] = 0, 0
labels = ["upright", "upright", "level", "level"]
samovar.FewShotClassifier("glyphs").fit(strokes, labels).save(sys.argv[1])
loaded = samovar.FewShotClassifier.load(sys.argv[1])
answers = loaded.predict(strokes).tolist()
after_use = [name for name in heavy if name in sys.modules]
print(json.dumps([after_import, after_use, answers]))
"""


def test_using_a_model_imports_neither_lightning_nor_matplotlib(tmp_path):
    command = [sys.executable, "-c", STARTED, str(tmp_path / "t.safetensors")]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    after_import, after_use, answers = json.loads(done.stdout)
    assert after_import == []
    assert after_use == ["torch"]
    assert answers == ["upright", "upright", "level", "level"]


def test_an_answer_holds_what_the_other_methods_return():
    features, labels = blobs()
    model = features_model(5, method="samovar", classifier="linear")
    table = Rejection("test", (ShapeThresholds(4, 5, (0.3,) * len(RATES)),))
    classifier = FewShotClassifier(replace(model, rejection=table), samples=8, reject=0.05)
    queries = np.concatenate([features, -features])
    answer = classifier.fit(features, labels).answer(queries)
    assert answer.labels.tolist() == classifier.predict(queries).tolist()
    np.testing.assert_array_equal(answer.probabilities, classifier.predict_proba(queries))
    np.testing.assert_array_equal(
        answer.uncertainty.entropy, classifier.uncertainty(queries).entropy
    )
    assert (answer.labels == "none of these").tolist() == answer.rejected.tolist()
    assert 0 < answer.rejected.sum() < len(queries)


def test_a_fit_that_fails_leaves_what_was_fitted_before():
    features, labels = blobs()
    classifier = FewShotClassifier(features_model(5)).fit(features, labels)
    before = classifier.predict_proba(features)
    with pytest.raises(ValueError, match="inconsistent numbers of samples"):
        classifier.fit(features, labels[:-1])
    np.testing.assert_array_equal(classifier.predict_proba(features), before)


def test_any_function_is_an_encoder(tmp_path):
    """The closed form takes it; a task that is saved needs it again."""

    def mean_colour(images):
        return np.array([np.asarray(image).mean((0, 1)) for image in images])

    colours = ["red", "blue", "red", "blue"]
    images = [Image.new("RGB", (9 + i, 9), colour) for i, colour in enumerate(colours)]
    classifier = FewShotClassifier(small_regression(), encoder=mean_colour).fit(images, colours)
    assert classifier.predict(images).tolist() == colours
    assert classifier.task_.vectors.shape == (4, 3)
    vectors = mean_colour(images)
    np.testing.assert_allclose(
        classifier.predict_proba(vectors), classifier.predict_proba(images), atol=1e-6
    )
    path = classifier.save(tmp_path / "t.safetensors")
    loaded = FewShotClassifier.load(path, small_regression(), encoder=mean_colour)
    assert loaded.predict(images).tolist() == colours
    with pytest.raises(ModelError, match=r"mean_colour.*given as `encoder`"):
        FewShotClassifier.load(path, small_regression()).predict(images)
    other = patch_encoder()
    with pytest.raises(ModelError, match="is not the encoder that this was made with"):
        FewShotClassifier.load(path, small_regression(), encoder=other)


def test_a_fitted_classifier_with_an_encoder_can_be_sent_to_another_process():
    images = [Image.new("RGB", (20, 20), colour) for colour in ("red", "blue")]
    classifier = FewShotClassifier(small_regression(), encoder=patch_encoder("mine"))
    classifier.fit(images, ["red", "blue"])
    again = pickle.loads(pickle.dumps(classifier))
    np.testing.assert_array_equal(again.predict_proba(images), classifier.predict_proba(images))


def test_a_library_call_writes_nothing_to_the_disk(cache_folder, tmp_path):
    for number, colour in enumerate(("red", "blue")):
        Image.new("RGB", (20, 20), colour).save(tmp_path / f"{number}.png")
    paths = [tmp_path / "0.png", tmp_path / "1.png"]
    FewShotClassifier(small_regression()).fit(paths, ["red", "blue"]).predict(paths)
    assert list(cache_folder.iterdir()) == []


@pytest.fixture
def photos(tmp_path):
    """Photographs of two classes, and a classifier of them."""
    folder = draw_photos(tmp_path / "photos", {"disc": 3, "bars": 3}, side=40)
    return folder, FewShotClassifier(small_regression()).fit(folder)


def test_a_single_image_or_a_folder_can_be_predicted(photos):
    folder, classifier = photos
    path = folder / "disc" / "0.jpg"
    with Image.open(path) as picture:
        for single in (path, str(path), picture):
            assert classifier.predict(single).tolist() == ["disc"]
    assert classifier.predict(folder / "bars").tolist() == ["bars"] * 3
    assert classifier.predict(str(folder)).tolist() == ["bars"] * 3 + ["disc"] * 3
    small = FewShotClassifier(image_model(), samples=4).fit(folder)
    assert small.predict_proba(path).shape == (1, 2)


def test_log_probabilities_are_logarithms(photos):
    folder, classifier = photos
    logarithms = classifier.predict_log_proba(folder)
    np.testing.assert_allclose(np.exp(logarithms), classifier.predict_proba(folder))


def test_leave_one_out_names_files_also_after_loading(photos, tmp_path):
    folder, _ = photos
    wrong = folder / "bars" / "wrong.jpg"
    wrong.write_bytes((folder / "disc" / "0.jpg").read_bytes())
    with pytest.warns(UserWarning, match="the same image is in two classes"):
        classifier = FewShotClassifier(small_regression()).fit(folder)
    expected = {"image": "bars/wrong.jpg", "label": "bars", "answer": "disc"}
    assert expected in classifier.leave_one_out()["wrong"]
    path = classifier.save(tmp_path / "t.safetensors")
    loaded = FewShotClassifier.load(path, small_regression())
    assert loaded.leave_one_out() == classifier.leave_one_out()
    assert loaded.support_.names == classifier.support_.names
    more = draw_photos(tmp_path / "more", {"checks": 2}, side=40)
    assert loaded.partial_fit(more).support_.names[-1] == "checks/1.jpg"
    with Image.open(wrong) as picture:
        assert loaded.partial_fit([picture], ["disc"]).support_ is None


def test_a_score_of_class_folders_and_its_report(photos, tmp_path):
    folder, classifier = photos
    new = draw_photos(tmp_path / "new", {"disc": 4, "bars": 4, "checks": 2}, first=9, side=40)
    report = classifier.score_report(new)
    assert report.others == ("checks",)
    assert report.accuracy.images == 8
    assert classifier.score(folder) == classifier.score_report(folder).accuracy.value
    paths = sorted(new.glob("*/*.jpg"))
    labels = [path.parent.name for path in paths]
    assert classifier.score_report(paths, labels).to_json() == report.to_json()


def test_progress_is_shown_if_it_is_wanted(photos, capsys):
    folder, classifier = photos
    classifier.predict(folder)
    assert capsys.readouterr().err == ""
    classifier.set_params(verbose=True).predict(folder)
    assert "6 of 6 images, 100 %" in capsys.readouterr().err
    FewShotClassifier(image_model(), samples=4, verbose=True).fit(folder)
    assert "6 of 6 images, 100 %" in capsys.readouterr().err


def test_help_shows_nothing_private():
    public = {
        "answer",
        "calibrate",
        "check",
        "classes_",
        "fit",
        "leave_one_out",
        "load",
        "partial_fit",
        "predict",
        "predict_log_proba",
        "predict_proba",
        "prediction_sets",
        "rejection_note",
        "save",
        "saved_",
        "score",
        "score_report",
        "sets_note",
        "spread_",
        "suggest",
        "task_",
        "uncertainty",
    }
    own = {name for name in vars(FewShotClassifier) if not name.startswith("_")}
    # scikit-learn adds methods that route metadata, such as set_fit_request.
    assert {name for name in own if not name.endswith("_request")} == public
