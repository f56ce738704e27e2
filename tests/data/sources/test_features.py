"""Ready-made features are read with their labels from npz and npy files."""

import json

import numpy as np
import pytest

from samovar.data.dataset import Dataset
from samovar.data.preparation import prepare
from samovar.data.sources.features import rows_by_class
from samovar.errors import DataError
from samovar.settings.data import PrepareSettings


@pytest.mark.parametrize(
    "labels", [np.repeat(np.arange(4), 5), np.repeat(["ant", "bee", "cat", "dog"], 5)]
)
@pytest.mark.parametrize("form", ["npz", "npy"])
def test_features(tmp_path, labels, form):
    features = np.random.default_rng(0).standard_normal((20, 7))
    order = np.random.default_rng(1).permutation(20)
    if form == "npz":
        root = tmp_path / "clip.npz"
        np.savez(root, features=features[order], labels=labels[order])
    else:
        root = tmp_path
        np.save(root / "features.npy", features[order])
        np.save(root / "labels.npy", labels[order])
    store = prepare("features", root)
    assert store.array.shape == (20, 7)
    assert store.array.dtype == np.float32
    assert [entry.name for entry in store.classes] == [str(label) for label in labels[::5]]
    np.testing.assert_allclose(np.sort(store.array[:5], 0), np.sort(features[:5], 0), rtol=1e-6)
    gathered = Dataset(store).gather(np.array([[0, 1]]))
    assert gathered.shape == (1, 2, 7)


ENCODER = {"name": "tiny.onnx", "identity": "1" * 64, "length": 7, "path": "/x/tiny.onnx"}


def write_features(path, **arrays):
    features = np.random.default_rng(0).standard_normal((20, 7))
    labels = np.repeat(["ant", "bee", "cat", "dog"], 5)
    np.savez(path, features=features, labels=labels, **arrays)
    return path


def test_the_encoder_is_kept_and_what_else_the_file_says_is_not(tmp_path):
    stored = ENCODER | {"skipped": [], "inputs": "abc"}
    plain = prepare("features", write_features(tmp_path / "v.npz"))
    assert plain.encoder is None
    assert "encoder" not in plain.facts
    store = prepare("features", write_features(tmp_path / "v.npz", encoder=json.dumps(stored)))
    assert store.encoder == ENCODER
    assert store.identity == plain.identity, "the vectors and classes are the same"


@pytest.mark.parametrize(
    "foreign", ["ViT-B/32", "[1, 2]", json.dumps({"name": "ViT"}), 3, np.zeros(3), "[" * 10**5]
)
def test_an_array_of_that_name_from_elsewhere_is_ignored(tmp_path, foreign):
    assert prepare("features", write_features(tmp_path / "v.npz", encoder=foreign)).encoder is None


def test_vectors_that_are_not_the_encoders_are_refused(tmp_path):
    stored = json.dumps(ENCODER | {"length": 9})
    with pytest.raises(DataError, match=r"vectors of 7 numbers, but its encoder tiny\.onnx"):
        prepare("features", write_features(tmp_path / "v.npz", encoder=stored))


def test_a_split_in_the_file_is_used_unless_another_is_given(tmp_path):
    split = np.repeat(["test", "train", "train", "val"], 5)
    path = write_features(tmp_path / "v.npz", split=split)
    expected = {"train": ["bee", "cat"], "val": ["dog"], "test": ["ant"]}
    assert prepare("features", path).facts["splits"]["own"] == expected
    other = {"train": ["ant"], "val": ["bee"], "test": ["cat", "dog"]}
    (tmp_path / "split.json").write_text(json.dumps(other))
    settings = PrepareSettings(split_file=tmp_path / "split.json")
    assert prepare("features", path, settings).facts["splits"]["own"] == other


@pytest.mark.parametrize(
    ("split", "words"),
    [
        (np.repeat(["train", "exam"], 10), "must have train, val or test for each row"),
        (np.array(["train"]), "must have train, val or test for each row"),
        (np.array(["train", "test"] * 10), "lists a class twice"),
    ],
)
def test_a_split_that_makes_no_sense_is_refused(tmp_path, split, words):
    with pytest.raises(DataError, match=words):
        prepare("features", write_features(tmp_path / "v.npz", split=split))


def test_a_label_that_is_not_text_is_refused(tmp_path):
    """NumPy stores any number where a character should be."""
    labels = np.repeat(["ant", "bee"], 10)
    labels.view(np.uint32)[0] = 0x110000
    np.savez(tmp_path / "v.npz", features=np.ones((20, 3)), labels=labels)
    with pytest.raises(DataError, match="numbers that stand for no character"):
        prepare("features", tmp_path / "v.npz")
    np.save(tmp_path / "features.npy", np.ones((20, 3)))
    np.save(tmp_path / "labels.npy", labels)
    with pytest.raises(DataError, match="labels that are not text"):
        prepare("features", tmp_path)


@pytest.mark.parametrize(("labels", "row"), [(np.zeros(4, "<U0"), 0), (["ant", "", "b", ""], 1)])
def test_labels_that_are_empty_are_refused(tmp_path, labels, row):
    np.save(tmp_path / "features.npy", np.ones((4, 3)))
    np.save(tmp_path / "labels.npy", labels)
    with pytest.raises(DataError, match=f"without a class name; the first is row {row}"):
        prepare("features", tmp_path)


@pytest.mark.parametrize(
    ("arrays", "words"),
    [
        ({"features": np.ones((20, 0)), "labels": np.arange(20)}, r"features \(20, 0\)"),
        ({"features": np.ones((20, 3))}, "it has no array 'labels'"),
        ({"features": np.full((20, 3), np.nan), "labels": np.arange(20)}, "20 rows with values"),
    ],
)
def test_vectors_that_make_no_sense_are_refused(tmp_path, arrays, words):
    np.savez(tmp_path / "v.npz", **arrays)
    with pytest.raises(DataError, match=words):
        prepare("features", tmp_path / "v.npz")


def test_the_rows_of_many_classes_are_found_by_sorting_once():
    classes = np.random.default_rng(0).integers(0, 50_000, 100_000)
    values, class_of_row = np.unique(classes, return_inverse=True)
    rows = rows_by_class(class_of_row, len(values))
    assert len(rows) == len(values)
    for position in (0, 17, len(values) - 1):
        np.testing.assert_array_equal(rows[position], np.flatnonzero(class_of_row == position))
