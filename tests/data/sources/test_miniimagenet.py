"""miniImageNet is read from CSV files or class folders, and changed images are noticed."""

import pytest
from helpers_sources import make_miniimagenet, picture

from samovar.data.preparation import prepare
from samovar.data.splits import published


@pytest.mark.parametrize("zipped", [True, False])
def test_miniimagenet_with_csv_files(tmp_path, zipped):
    store = prepare("miniimagenet", make_miniimagenet(tmp_path, zipped=zipped))
    assert store.array.shape == (18, 84, 84, 3)
    assert [len(store.split(split)) for split in ("train", "val", "test")] == [3, 3, 3]
    assert abs(int(store.array[0, 40, 40, 0]) - 50) < 3


def test_miniimagenet_in_class_folders(tmp_path):
    for names in published("miniimagenet").values():
        (tmp_path / names[0]).mkdir()
        (tmp_path / names[0] / "a.jpg").write_bytes(picture(9, 30, "RGB", "JPEG"))
    assert [
        len(prepare("miniimagenet", tmp_path).split(split)) for split in ("train", "val", "test")
    ] == [1, 1, 1]


def test_changed_images_of_miniimagenet_are_noticed(tmp_path):
    for value in (0, 200):
        for names in published("miniimagenet").values():
            (tmp_path / names[0]).mkdir(exist_ok=True)
            (tmp_path / names[0] / "a.png").write_bytes(picture(value, 30, "RGB"))
        assert prepare("miniimagenet", tmp_path).array.max() == value


def test_real_miniimagenet_sample(archives):
    store = prepare("miniimagenet", archives("miniimagenet-sample"))
    assert store.array.shape == (2000, 84, 84, 3)
    assert store.partial == "2,000 of 60,000 images"
    assert [len(store.split(split)) for split in ("train", "val", "test")] == [64, 16, 20]
