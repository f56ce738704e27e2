"""A user's folder of images is split by fractions, by a file or by its subfolders."""

import json
import sys

import pytest
from helpers_sources import make_folder, picture

from samovar.data.preparation import list_stores, prepare
from samovar.data.sources.folder import class_folders
from samovar.errors import DataError
from samovar.settings.data import PrepareSettings


def test_folder_by_fraction_by_file_and_by_subfolders(tmp_path):
    names = [f"c{i}" for i in range(10)]
    settings = PrepareSettings(size=12, fractions=(0.6, 0.2, 0.2))
    store = prepare("folder", make_folder(tmp_path / "plain", names), settings)
    assert store.array.shape == (20, 12, 12, 3)
    assert [len(store.split(split)) for split in ("train", "val", "test")] == [6, 2, 2]
    (tmp_path / "split.json").write_text(json.dumps({"train": names[:5], "test": names[5:]}))
    by_file = PrepareSettings(size=12, split_file=tmp_path / "split.json")
    store = prepare("folder", tmp_path / "plain", by_file, store_name="other")
    assert store.split("test") == [5, 6, 7, 8, 9]
    for split, members in (("train", names[:7]), ("val", names[7:8]), ("test", names[8:])):
        make_folder(tmp_path / "parts" / split, members)
    store = prepare(
        "folder", tmp_path / "parts", PrepareSettings(size=12, colour="grey"), store_name="third"
    )
    assert [len(store.split(split)) for split in ("train", "val", "test")] == [7, 1, 2]
    assert store.array.shape[-1] == 1
    assert set(list_stores()) == {"folder", "other", "third"}


def test_parts_are_told_from_classes(tmp_path):
    """`train` may be a class, and hidden folders are nobody's."""
    (make_folder(tmp_path / "toys", ["train", "car", "plane"]) / ".ipynb_checkpoints").mkdir()
    store = prepare("folder", tmp_path / "toys", PrepareSettings(size=8))
    assert [entry.name for entry in store.classes] == ["car", "plane", "train"]
    for split, name in (("train", "a"), ("val", "b"), ("test", "c")):
        make_folder(tmp_path / "parts" / split, [name])
    (tmp_path / "parts" / ".ipynb_checkpoints").mkdir()
    store = prepare("folder", tmp_path / "parts", PrepareSettings(size=8))
    assert [store.split(split) for split in ("train", "val", "test")] == [[0], [1], [2]]


def test_a_changed_image_is_noticed(tmp_path):
    root, settings = make_folder(tmp_path / "x", ["a", "b", "c"]), PrepareSettings(size=10)
    assert prepare("folder", root, settings).array[0, 0, 0, 0] == 0
    (root / "a" / "0.png").write_bytes(picture(77, 10, "RGB"))
    assert prepare("folder", root, settings).array[0, 0, 0, 0] == 77


def test_images_in_folders_inside_a_class_folder_belong_to_it(tmp_path):
    root = make_folder(tmp_path / "x", ["a", "b", "c"])
    (root / "a" / "deep").mkdir()
    (root / "a" / "deep" / "9.png").write_bytes(picture(9, 10, "RGB"))
    assert [len(images) for _, images in class_folders(root)] == [3, 2, 2]


def test_images_that_need_an_installation_are_not_passed_over(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "pillow_heif", None)
    root = make_folder(tmp_path / "x", ["a", "b"])
    (root / "a" / "x.heic").write_bytes(bytes(4) + b"ftypheic" + bytes(20))
    with pytest.raises(DataError, match=r"1 \.heic image \(pip install 'samovar\[heic\]'\)"):
        class_folders(root)
    for path in (root / "a").glob("*.png"):
        path.unlink()
    with pytest.raises(DataError, match=r"a has no images that can be read, only 1 \.heic image"):
        class_folders(root)
