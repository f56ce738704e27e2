"""CIFAR-FS and FC100 are read from the archive of CIFAR-100 or its unpacked folder."""

import tarfile

import numpy as np
import pytest
from helpers_sources import ALL_CIFAR, make_cifar

from samovar.data.preparation import prepare, unofficial_files


@pytest.mark.parametrize("name", ["cifar_fs", "fc100"])
def test_cifar(tmp_path, name):
    make_cifar(tmp_path)
    store = prepare(name, tmp_path)
    assert store.array.shape == (200, 32, 32, 3)
    assert store.partial == "200 of 60,000 images"
    for position in (0, 57):
        entry = store.classes[position]
        assert (entry.name, entry.group) == (ALL_CIFAR[position], f"group{position // 5}")
        np.testing.assert_array_equal(store.array[2 * position, 3, 4], [position, 0, 7])
        np.testing.assert_array_equal(store.array[2 * position + 1, 3, 4], [position, 1, 7])
    sizes = [len(store.split(split)) for split in ("train", "val", "test")]
    assert sizes == ([64, 16, 20] if name == "cifar_fs" else [60, 20, 20])
    assert unofficial_files(store, tmp_path) == ["cifar-100-binary.tar.gz"]


def test_cifar_from_its_unpacked_folder(tmp_path):
    with tarfile.open(make_cifar(tmp_path)) as archive:
        archive.extractall(tmp_path / "unpacked", filter="data")
    (tmp_path / "cifar-100-binary.tar.gz").unlink()
    assert len(prepare("cifar_fs", tmp_path).array) == 200


def test_real_cifar(archives):
    store = prepare("fc100", archives("cifar100"))
    assert store.array.shape == (60_000, 32, 32, 3)
    assert store.partial is None
    assert {entry.count for entry in store.classes} == {600}
    groups = {entry.name: entry.group for entry in store.classes}
    assert groups["apple"] == "fruit_and_vegetables"
    assert groups["worm"] == "non-insect_invertebrates"
    assert {groups[store.classes[i].name] for i in store.split("test")} == {
        "aquatic_mammals",
        "insects",
        "medium_mammals",
        "people",
    }
    # MetaOptNet's constants for FC100 are those of CIFAR-100's 50,000 training images.
    np.testing.assert_allclose(store.array.mean((0, 1, 2)), [129.377, 124.106, 112.478], atol=0.5)
