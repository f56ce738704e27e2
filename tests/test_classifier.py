"""FewShotClassifier: scikit-learn's conventions, and the promises of fit, partial_fit, reject, save and load."""

import json
import math
from dataclasses import replace

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from PIL import Image
from sklearn.metrics import accuracy_score
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import FunctionTransformer
from sklearn.utils.estimator_checks import parametrize_with_checks
from torch.nn import functional

from samovar import FewShotClassifier, SavedModel
from samovar.config import ModelSettings
from samovar.data.augmentation import Normalisation
from samovar.data.decode import Conversion
from samovar.distance import cosine_distance
from samovar.errors import DataError, ModelError, SettingsError
from samovar.fitted_task import read_task, write_task
from samovar.models.model import FewShotModel
from samovar.models.norm import norm_modes, set_norm
from samovar.rejection import RATES, SCORE, Cell, Rejection, factor


def features_model(width: int, **settings) -> SavedModel:
    """An untrained model of ready-made features; prototypes separate even so."""
    chosen = {"method": "prototypes", "classifier": "squared", "alpha": 1.0} | settings
    model = FewShotModel(ModelSettings(backbone="identity", size=width, **chosen))
    return SavedModel(model.eval(), Normalisation((0.0,) * width, (1.0,) * width, 1.0))


def image_model(**settings) -> SavedModel:
    chosen = {"size": 12, "width": 4} | settings
    conversion = Conversion(12, "grey" if chosen.get("channels") == 1 else "rgb")
    channels = chosen.get("channels", 3)
    normalisation = Normalisation((0.5,) * channels, (0.25,) * channels)
    return SavedModel(FewShotModel(ModelSettings(**chosen)).eval(), normalisation, {}, conversion)


class OnFeatures(FewShotClassifier):
    """For scikit-learn's checks: the model has the width that is seen in fit."""

    def _load(self, images) -> SavedModel:
        shape = np.asarray(images).shape
        return features_model(max(1, shape[1]) if len(shape) == 2 else 1)


EXPECTED_FAILURES: dict[str, str] = {}


@parametrize_with_checks([OnFeatures(samples=4)], expected_failed_checks=lambda _: EXPECTED_FAILURES)
def test_scikit_learns_own_checks(estimator, check):
    check(estimator)


def blobs(seed: int = 0, classes: int = 4, each: int = 6, width: int = 5):
    noise = np.random.default_rng(seed)
    labels = np.repeat(np.arange(classes), each)
    return noise.normal(size=(classes, width))[labels] * 3 + noise.normal(size=(len(labels), width)), labels


def test_pipeline_cross_validation_and_grid_search():
    features, labels = blobs(each=12)
    rejection = Rejection("test", (Cell(4, 5, tuple(np.linspace(0.05, 0.9, len(RATES)))),))
    model = replace(features_model(5, method="samovar", classifier="linear"), rejection=rejection)
    classifier = FewShotClassifier(model, samples=8)
    pipeline = Pipeline(
        [("double", FunctionTransformer(lambda x: 2 * x)), ("classify", FewShotClassifier(features_model(5)))]
    )
    assert cross_val_score(pipeline, features, labels, cv=3).mean() > 0.8
    search = GridSearchCV(classifier, {"reject": [None, 0.3], "samples": [4, 16]}, cv=2).fit(features, labels)
    assert set(search.cv_results_["param_samples"]) == {4, 16}
    assert 0 <= search.best_score_ <= 1


@given(st.permutations(range(24)), st.integers(1, 23))
@settings(max_examples=20, deadline=None)
def test_partial_fit_in_any_order_is_fit_on_everything(order, cut):
    features, labels = blobs()
    model = features_model(5, method="samovar", classifier="linear")
    whole = FewShotClassifier(model, samples=16).fit(features, labels)
    first, second = list(order[:cut]), list(order[cut:])
    parts = FewShotClassifier(model, samples=16).partial_fit(features[first], labels[first])
    parts.partial_fit(features[second], labels[second])
    assert parts.classes_.tolist() == whole.classes_.tolist()
    np.testing.assert_allclose(parts.predict_proba(features), whole.predict_proba(features), atol=1e-5)


@pytest.mark.parametrize(
    "labels",
    [
        ["b", "b", "a", "a"],
        [3, 3, -1, -1],
        [True, True, False, False],
        [("x", 1), ("x", 1), ("y", 2), ("y", 2)],
        ["a", "a", 1, 1],
    ],
    ids=["text", "numbers", "booleans", "tuples", "mixed"],
)
def test_labels_come_back_as_they_were_given(labels):
    features = np.array([[5.0, 0], [5, 1], [-5, 0], [-5, 1]])
    classifier = FewShotClassifier(features_model(2)).fit(features, labels)
    answers = classifier.predict(features).tolist()
    assert answers == labels
    assert [type(each) for each in answers] == [type(each) for each in labels]
    assert classifier.score(features, labels) == 1
    assert classifier.predict_proba(features).shape == (4, 2)


def test_all_kinds_of_images_are_the_same_image(tmp_path):
    noise = np.random.default_rng(0)
    arrays = noise.integers(256, size=(6, 12, 12, 3), dtype=np.uint8)
    paths = []
    for i, array in enumerate(arrays):
        paths.append(tmp_path / f"{i}.png")
        Image.fromarray(array).save(paths[-1])
    classifier = FewShotClassifier(image_model(), samples=8).fit(arrays, list("aabbcc"))
    expected = classifier.predict_proba(arrays)
    for kind in (
        paths,
        [str(path) for path in paths],
        [Image.open(path) for path in paths],
        [array / 255 for array in arrays],
        torch.from_numpy(arrays),
        torch.from_numpy(arrays).permute(0, 3, 1, 2) / 255,
        (torch.from_numpy(arrays) / 255).requires_grad_(),
    ):
        np.testing.assert_allclose(classifier.predict_proba(kind), expected, atol=1e-5)
    grey = noise.integers(256, size=(2, 30, 17), dtype=np.uint8)
    assert classifier.predict_proba(grey).shape == (2, 3)


def test_a_folder_needs_no_labels(tmp_path):
    for name, value in (("dark", 10), ("bright", 240)):
        (tmp_path / name).mkdir()
        for i in range(2):
            Image.new("RGB", (20, 15), (value, value, value + i)).save(tmp_path / name / f"{i}.png")
    classifier = FewShotClassifier(image_model(), samples=8).fit(tmp_path)
    assert classifier.classes_.tolist() == ["bright", "dark"]
    assert classifier.task_.counts.tolist() == [2, 2]


@pytest.mark.parametrize(
    ("images", "words"),
    [
        (np.zeros((2, 12, 12, 7), np.uint8), "shape"),
        (np.full((2, 12, 12), 3.0), "outside 0 to 1"),
        (np.full((2, 12, 12), np.nan), "outside 0 to 1"),
        (np.full((2, 12, 12), 300), "neither uint8"),
        ("photo.jpg", "several images"),
        (["missing.png", "missing.png"], "cannot be read"),
        (np.zeros((2, 12), np.uint8), "array of images"),
    ],
)
def test_bad_images_are_refused_in_a_sentence(images, words):
    with pytest.raises(DataError, match=words):
        FewShotClassifier(image_model()).fit(images, ["a", "b"])


def test_one_query_does_not_change_another():
    features, labels = blobs()
    classifier = FewShotClassifier(features_model(5, method="samovar", classifier="cosine"), samples=16).fit(
        features, labels
    )
    together = classifier.predict_proba(features)
    alone = np.concatenate([classifier.predict_proba(each[None]) for each in features])
    np.testing.assert_allclose(together, alone, atol=1e-5)
    np.testing.assert_allclose(together.sum(1), 1)


def test_uncertainty_and_deterministic_models():
    features, labels = blobs()
    sampled = FewShotClassifier(features_model(5, method="samovar", classifier="linear")).fit(features, labels)
    entropy, information = sampled.uncertainty(features)
    assert ((information >= 0) & (information <= entropy + 1e-6) & (entropy <= math.log(4) + 1e-6)).all()
    assert FewShotClassifier(features_model(5)).fit(features, labels).uncertainty(features).mutual_information is None


def test_rejection_has_the_stated_rate_on_the_scores_it_was_measured_on():
    distances = np.sort(np.random.default_rng(0).random(5000))
    table = Rejection(
        "test", (Cell(5, 1, tuple(np.quantile(distances, 1 - np.array(RATES)))), Cell(20, 5, (1.0,) * len(RATES)))
    )
    for rate in (0.01, 0.05, 0.2, 0.5):
        threshold, cell = table.threshold(6, np.array([1, 1, 2]), rate)
        assert (cell.way, cell.shot) == (5, 1), "the nearest shape"
        assert (distances > threshold).mean() == pytest.approx(rate, abs=0.002)
    assert table.threshold(30, np.array([4]), 0.05)[1].way == 20
    for rate in (0.0, 0.7, -1.0):
        with pytest.raises(SettingsError):
            table.threshold(5, np.array([1]), rate)


@given(seed=st.integers(0, 100), scale=st.floats(0.01, 100))
def test_distance_is_to_the_nearest_class_and_of_directions_only(seed, scale):
    noise = torch.Generator().manual_seed(seed)
    query, means = torch.randn(2, 3, 4, generator=noise), torch.randn(2, 5, 4, generator=noise)
    distance = cosine_distance(query, means)
    cosines = functional.cosine_similarity(query[:, :, None], means[:, None], dim=-1)
    torch.testing.assert_close(distance, 1 - cosines.max(-1).values, rtol=1e-4, atol=1e-5)
    torch.testing.assert_close(cosine_distance(scale * query, means / scale), distance, rtol=1e-4, atol=1e-5)
    same, opposite = cosine_distance(means, means), cosine_distance(-means[:, :1], means[:, :1])
    assert (same >= 0).all()
    assert (same < 1e-6).all()
    assert ((opposite > 2 - 1e-6) & (opposite <= 2)).all()
    more = torch.cat([means, torch.randn(2, 1, 4, generator=noise)], 1)
    assert (cosine_distance(query, more) <= distance + 1e-6).all(), "with more classes nothing is farther"
    with torch.autocast("cpu", torch.bfloat16):
        assert torch.equal(cosine_distance(query, means), distance)


def test_images_far_from_all_classes_are_rejected_however_sure_the_classifier_is():
    features, labels = np.array([[10.0, 1, 0], [10, -1, 0], [1, 10, 0], [-1, 10, 0]]), ["a", "a", "b", "b"]
    model = replace(features_model(3), rejection=Rejection("test", (Cell(2, 2, (0.1,) * len(RATES)),)))
    classifier = FewShotClassifier(model, reject=0.05).fit(features, labels)
    strange = np.array([[20.0, 0, 30]])
    assert classifier.predict_proba(strange)[0, 0] > 0.99
    assert classifier.predict(np.vstack([features, strange])).tolist() == [*labels, "none of these"]
    one = FewShotClassifier(model, reject=0.05).fit(features[:2], labels[:2])
    assert one.predict(np.vstack([features, strange])).tolist() == ["a", "a"] + 3 * ["none of these"]
    assert one.leave_one_out() == {"images": 2, "accuracy": 1.0, "rejected": 0.0}


@given(ratio=st.floats(0, 100))
def test_thresholds_follow_the_tasks_own_images_half_way(ratio):
    table = Rejection("test", (Cell(5, 4, (0.2,) * len(RATES)), Cell(5, 20, (5.0,) * len(RATES))))
    spread = table.spread(5, 4.0, 0.2 * ratio * np.array([1.0, 0.5, 1.0, 2.0]))
    assert spread == pytest.approx(ratio)
    assert 0.5 <= factor(spread) <= 2
    if 0.25 < ratio < 4:
        assert factor(spread) ** 2 == pytest.approx(ratio)
    assert factor(None) == 1


@pytest.mark.parametrize("counts", [(3, 3, 3), (2, 2), (6, 1, 4)])
def test_the_spread_of_a_task_is_by_fits_without_each_image_and_is_kept(tmp_path, counts):
    features, labels = blobs(seed=3, classes=len(counts), each=8)
    kept = np.concatenate([np.flatnonzero(labels == label)[:count] for label, count in enumerate(counts)])
    features, labels = features[kept], labels[kept]
    shots = (1, 2, 3, 5)
    table = Rejection("test", tuple(Cell(len(counts), shot, (0.1 * shot,) * len(RATES)) for shot in shots))
    folder = replace(features_model(5), rejection=table).save_pretrained(tmp_path / "model")
    classifier = FewShotClassifier(folder, reject=0.05).fit(features, labels)
    found, left = [], []
    for i, label in enumerate(labels):
        if (labels == label).sum() > 1:
            rest = np.arange(len(labels)) != i
            means = [features[rest & (labels == each)].mean(0) for each in np.unique(labels)]
            found.append(float(cosine_distance(torch.tensor(features[[i]]), torch.tensor(np.stack(means)))))
            left.append((labels[rest] == label).sum())
    assert classifier.spread_ == pytest.approx(np.median(found) / (0.1 * np.median(left)), rel=1e-3)
    assert f"x {factor(classifier.spread_):.2f} for the spread" in classifier.rejection_note
    loaded = FewShotClassifier.load(classifier.save(tmp_path / "t.safetensors"))
    assert loaded.rejection_note == classifier.rejection_note
    assert loaded.partial_fit(features[:1], labels[:1]).spread_ == classifier.spread_
    first = [np.flatnonzero(labels == label)[0] for label in np.unique(labels)]
    alone = FewShotClassifier(folder, reject=0.05).fit(features[first], labels[first])
    assert alone.spread_ is None
    assert "spread" not in alone.rejection_note


@given(seed=st.integers(0, 50))
def test_the_same_image_twice_is_at_no_distance_and_rejects_nothing_of_itself(seed):
    features = np.repeat(np.random.default_rng(seed).random((2, 7)), 2, axis=0)
    table = Rejection("test", (Cell(2, 1, (0.1,) * len(RATES)),))
    model = replace(features_model(7), rejection=table)
    classifier = FewShotClassifier(model, reject=0.05).fit(features, ["a", "a", "b", "b"])
    assert 0 <= classifier.spread_ < 1e-4
    assert classifier.predict(features).tolist() == ["a", "a", "b", "b"]
    assert "x 0.50" in classifier.rejection_note


def test_thresholds_of_another_score_are_none(tmp_path):
    table = Rejection("test", (Cell(2, 2, (0.1,) * len(RATES)),))
    folder = replace(features_model(3), rejection=table).save_pretrained(tmp_path / "model")
    assert SavedModel.from_pretrained(folder).rejection == table
    config = json.loads((folder / "config.json").read_bytes())
    config["rejection"].pop("score")
    (folder / "config.json").write_text(json.dumps(config))
    with pytest.raises(ModelError, match="earlier version"):
        FewShotClassifier(folder, reject=0.05).fit(np.eye(3), [0, 1, 2])


def test_rejected_images_get_the_label_and_keep_their_probabilities():
    features, labels = np.array([[0.0, 9], [0, 11], [9, 0], [11, 0]]), [0, 0, 1, 1]
    thresholds = tuple(np.linspace(1e-3, 1e-2, len(RATES)))
    model = replace(features_model(2), rejection=Rejection("test", (Cell(4, 5, thresholds),)))
    classifier = FewShotClassifier(model, reject=0.5, reject_label=-1).fit(features, labels)
    middle = np.array([[5.0, 5.0]])
    assert classifier.predict(middle).tolist() == [-1]
    assert accuracy_score(labels, classifier.predict(features)) == 1.0, "numbers stay numbers"
    assert classifier.predict_proba(middle).sum() == pytest.approx(1)
    assert "nearest measured shape" in classifier.rejection_note
    loo = classifier.leave_one_out()
    assert loo == {"images": 4, "accuracy": 1.0, "rejected": 0.0}
    for impossible in (3, "x", True):
        with pytest.raises(SettingsError, match="reject must be from"):
            FewShotClassifier(model, reject=impossible).fit(features, labels)
    with pytest.raises(ModelError, match="no thresholds"):
        FewShotClassifier(features_model(2), reject=0.05).fit(features, labels).predict(features)


def test_leave_one_out_is_a_fit_without_the_image():
    features, labels = blobs(seed=3, classes=3, each=3)
    model = features_model(5, method="samovar", classifier="linear")
    classifier = FewShotClassifier(model, samples=16).fit(features, labels)
    right = 0
    for i in range(len(labels)):
        rest = np.arange(len(labels)) != i
        right += (
            FewShotClassifier(model, samples=16).fit(features[rest], labels[rest]).predict(features[[i]])[0]
            == labels[i]
        )
    assert classifier.leave_one_out() == {"images": 9, "accuracy": pytest.approx(right / 9), "rejected": None}
    assert FewShotClassifier(model).fit(features[::3], labels[::3]).leave_one_out() is None


@pytest.mark.parametrize("method", ["samovar", "prototypes"])
def test_with_ten_the_answers_are_the_models_own_and_loaded_tasks_cannot_grow(tmp_path, method):
    classifier = "cosine" if method == "samovar" else "euclidean"
    model = image_model(backbone="resnet12", width=2, task_embedding=True, method=method, classifier=classifier)
    for multiplier in model.model.task_embedding.multipliers:
        torch.nn.init.constant_(multiplier, 0.5)
    images = np.random.default_rng(0).integers(256, size=(8, 12, 12, 3), dtype=np.uint8)
    labels = np.array([0, 0, 1, 1, 2])
    whole = FewShotClassifier(model, samples=16).fit(images[:5], labels)
    parts = FewShotClassifier(model, samples=16).fit(images[:3], labels[:3]).partial_fit(images[3:5], labels[3:])
    np.testing.assert_allclose(parts.predict_proba(images), whole.predict_proba(images), atol=1e-4)
    with torch.no_grad():
        x = model.normalisation(torch.from_numpy(images)).permute(0, 3, 1, 2)
        prior, films = model.model.condition(x[None, :5], torch.from_numpy(labels)[None], 3)
        features = model.model.embed(x[None], films if method == "prototypes" else None)
        mean = model.model.classifier.mean_logits(features, prior).softmax(-1)[0]
        plain = model.model.embed(x[None])[0]
        means = torch.stack([plain[:5][labels == label].mean(0) for label in range(3)])
        distances = cosine_distance(plain, means)
    found = whole.answer_converted(list(images))
    np.testing.assert_allclose(found.distance, distances.numpy(), atol=1e-5)
    np.testing.assert_allclose(found.probabilities, whole.predict_proba(images), atol=1e-6)
    if method == "prototypes":
        np.testing.assert_allclose(whole.predict_proba(images), mean.numpy(), atol=1e-4)
    whole.save(tmp_path / "t.safetensors")
    loaded = FewShotClassifier.load(tmp_path / "t.safetensors", model)
    np.testing.assert_allclose(loaded.predict_proba(images), whole.predict_proba(images), atol=1e-5)
    with pytest.raises(ModelError, match="no longer has them"):
        loaded.partial_fit(images, np.zeros(8, int))


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


def test_saved_tasks_answer_as_before_and_can_grow(tmp_path):
    features, labels = blobs()
    names = np.array(["a\nb", "[bold]x[/]", "<b>", "ü"])[labels]
    model = features_model(5, method="samovar", classifier="linear")
    model.save_pretrained(tmp_path / "model")
    classifier = FewShotClassifier(tmp_path / "model", samples=16, seed=3).fit(features[:-6], names[:-6])
    path = classifier.save(tmp_path / "task.safetensors")
    loaded = FewShotClassifier.load(path)
    assert loaded.get_params() == classifier.get_params() | {"model": str((tmp_path / "model").resolve())}
    np.testing.assert_array_equal(loaded.predict_proba(features), classifier.predict_proba(features))
    loaded.partial_fit(features[-6:], names[-6:])
    whole = FewShotClassifier(model, samples=16, seed=3).fit(features, names)
    np.testing.assert_allclose(loaded.predict_proba(features), whole.predict_proba(features), atol=1e-5)
    assert path.stat().st_size < 4000, "sums and names only"
    other = features_model(5, method="samovar", classifier="linear", alpha=2.0)
    with pytest.raises(ModelError, match="another model"):
        FewShotClassifier.load(path, other)
    with pytest.raises(ModelError, match="cannot be stored"):
        FewShotClassifier(features_model(5)).fit(features, [(i,) for i in labels]).save(tmp_path / "x.safetensors")


@given(st.integers(0, 10_000), st.integers(0, 255))
@settings(max_examples=60, deadline=None)
def test_damaged_task_files_are_refused_or_harmless(tmp_path_factory, position, value):
    folder = tmp_path_factory.mktemp("task")
    features, labels = blobs(classes=2)
    model = features_model(5)
    path = FewShotClassifier(model).fit(features, labels).save(folder / "task.safetensors")
    content = bytearray(path.read_bytes())
    content[position % len(content)] = value
    path.write_bytes(content)
    try:
        loaded = FewShotClassifier.load(path, model)
        assert np.isfinite(loaded.predict_proba(features)).all()
    except (ModelError, SettingsError):
        pass


def test_tampered_task_files(tmp_path):
    for content in (b"", b"\xff" * 8, b"\xff\xff\xff\xff\xff\xff\xff\x7f{}", b"PK\x03\x04" + b"0" * 100):
        (tmp_path / "t.safetensors").write_bytes(content)
        with pytest.raises(ModelError, match="not a task file"):
            FewShotClassifier.load(tmp_path / "t.safetensors")


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("parameters", {"samples": 4, "reject": "x", "reject_label": "none", "seed": 0}),
        ("parameters", {"samples": 4, "reject": None, "reject_label": "none", "seed": None}),
        ("parameters", {"samples": 4, "reject": None, "reject_label": [1, 2], "seed": 0}),
        ("leave_one_out", "x"),
        ("leave_one_out", {"images": 3}),
        ("spread", -0.1),
        ("spread", [0.1]),
        ("model", "m" * 5000),
        ("totals", 1e300),
        ("totals", 1e30),
        ("totals", float("nan")),
        ("counts", 0),
        ("classes", (0, 0)),
    ],
)
def test_task_files_with_other_contents_are_refused(tmp_path, field, value):
    features, labels = blobs(classes=2)
    model = features_model(5)
    model.save_pretrained(tmp_path / "model")
    classifier = FewShotClassifier(tmp_path / "model").fit(features, labels)
    task, info = read_task(classifier.save(tmp_path / "task.safetensors"))
    if field in ("totals", "counts"):
        task = replace(task, **{field: getattr(task, field) * value})
    elif field == "classes":
        task = replace(task, classes=value)
    else:
        info = replace(info, **{field: value})
    with pytest.raises(ModelError):  # noqa: PT012 (some are refused when they are written)
        write_task(tmp_path / "task.safetensors", task, info)
        FewShotClassifier.load(tmp_path / "task.safetensors")


@pytest.mark.parametrize(
    ("part", "field", "value"),
    [
        ("model", "backbone", "resnet18"),
        ("model", "classifier", "magic"),
        ("model", "size", 12.5),
        ("model", "shared", 1),
        ("conversion", "resampling", "magic"),
        ("conversion", "colour", "grey"),
        ("normalisation", "mean", [0.5]),
        ("normalisation", "std", ["a", "b", "c"]),
        ("normalisation", "std", [0.1, 0.1, -1]),
        ("normalisation", "mean", [0.5, 0.5, float("nan")]),
        (None, "training", [1]),
        (None, "rejection", [1]),
        (
            None,
            "rejection",
            {"score": SCORE, "about": "", "cells": [{"way": float("inf"), "shot": 1, "thresholds": []}]},
        ),
    ],
)
def test_configs_with_other_contents_are_refused(tmp_path, part, field, value):
    folder = image_model().save_pretrained(tmp_path / "m")
    config = json.loads((folder / "config.json").read_text())
    (config if part is None else config[part])[field] = value
    (folder / "config.json").write_text(json.dumps(config))
    with pytest.raises(ModelError, match="not a model folder that can be read"):
        SavedModel.from_pretrained(folder)


def test_parameters_may_be_numpys_and_what_cannot_be_stored_is_refused(tmp_path):
    features, labels = blobs(classes=2)
    model = features_model(5)
    numbers = {"samples": np.int64(16), "seed": np.int32(1), "reject_label": np.int64(-1)}
    path = FewShotClassifier(model, **numbers).fit(features, labels).save(tmp_path / "task.safetensors")
    loaded = FewShotClassifier.load(path, model)
    assert (loaded.samples, loaded.seed, loaded.reject_label) == (16, 1, -1)
    with pytest.raises(ModelError, match="cannot be stored"):
        FewShotClassifier(model, reject_label=("x",)).fit(features, labels).save(tmp_path / "other.safetensors")


def test_arrays_of_paths_are_paths(tmp_path):
    paths = []
    for i in range(4):
        Image.new("L", (20, 20), 60 * i).save(tmp_path / f"{i}.png")
        paths.append(str(tmp_path / f"{i}.png"))
    classifier = FewShotClassifier(image_model(), samples=4).fit(np.array(paths), [0, 0, 1, 1])
    np.testing.assert_array_equal(classifier.predict_proba(np.array(paths)), classifier.predict_proba(paths))


def test_models_by_name_folder_and_hub(tmp_path, monkeypatch):
    assert SavedModel.from_pretrained("glyphs").model.settings.channels == 1
    with pytest.raises(ModelError, match="glyphs"):
        SavedModel.from_pretrained("no such model")
    monkeypatch.setitem(__import__("sys").modules, "huggingface_hub", None)
    with pytest.raises(ModelError, match="pip install huggingface_hub"):
        SavedModel.from_pretrained("someone/something")
    folder = features_model(3).save_pretrained(tmp_path / "m")
    assert {path.name for path in folder.iterdir()} == {"config.json", "model.safetensors", "README.md"}
    assert SavedModel.from_pretrained(folder).identity == features_model(3).identity
