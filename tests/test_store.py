"""A store is whole or not there, mapped and not loaded, and notices damage."""

import multiprocessing
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
import torch
from conftest import make_store

from samovar.data.dataset import Dataset
from samovar.data.store import ClassEntry, Contents, Store, _replace, open_store, write_store
from samovar.errors import DataError, OutputError

FACTS = {"title": "", "licence": "", "citation": ""}


def test_gather_finds_each_image(toy):
    indices = np.array([[0, 5], [100, 186]])
    images = toy.gather(indices)
    assert images.shape == (2, 2, 6, 6, 3)
    assert images.dtype == torch.uint8
    np.testing.assert_array_equal(images[..., 0, 0, 0].numpy(), indices)


def test_rotations_are_new_classes_with_turned_images(tmp_path):
    contents = Contents(
        [ClassEntry("a", 1), ClassEntry("b", 1)],
        (3, 3, 1),
        lambda position: np.arange(9).reshape(1, 3, 3, 1) + 10 * position,
        {"all": {"train": ["a", "b"]}},
    )
    store = write_store("turns", FACTS, contents, tmp_path)
    dataset = Dataset(store, rotations=True)
    assert len(dataset) == 8
    for position in range(8):
        image = dataset.gather(dataset.starts[position : position + 1])[0, ..., 0].numpy()
        np.testing.assert_array_equal(image, np.rot90(np.arange(9).reshape(3, 3) + 10 * (position % 2), position // 2))
    assert dataset.class_names[3] == "b turned 90"


def test_channel_statistics_are_those_of_the_training_classes(tmp_path):
    split = {"train": ["class 0"], "val": [], "test": ["class 1"]}
    store = make_store(tmp_path, [5, 9], split=split)
    assert store.facts["mean"] == pytest.approx([2.0] * 3)
    assert store.facts["std"] == pytest.approx([np.sqrt(2)] * 3)


def test_statistics_follow_the_splitting_scheme(tmp_path):
    images = np.arange(24, dtype=np.uint8).reshape(4, 2, 1, 3)  # two classes of two
    contents = Contents(
        [ClassEntry("a", 2), ClassEntry("b", 2)],
        (2, 1, 3),
        lambda position: images[2 * position : 2 * position + 2],
        {"first": {"train": ["a"], "test": ["b"]}, "second": {"train": ["b"], "test": ["a"]}},
    )
    store = write_store("toy", {}, contents, tmp_path)
    for scheme, part in ((None, images[:2]), ("first", images[:2]), ("second", images[2:])):
        mean, std = store.statistics(scheme)
        np.testing.assert_allclose(mean, part.mean((0, 1, 2)))
        np.testing.assert_allclose(std, part.std((0, 1, 2)))


def test_what_is_not_a_store_is_never_replaced(tmp_path):
    """A user's images under the name of the store to be, or files beside a store's own."""
    (tmp_path / "toy" / "cats").mkdir(parents=True)
    (tmp_path / "toy" / "cats" / "tom.png").write_bytes(b"precious")
    with pytest.raises(DataError, match="would be lost"):
        make_store(tmp_path, [2, 2])
    assert (tmp_path / "toy" / "cats" / "tom.png").read_bytes() == b"precious"
    store = make_store(tmp_path, [2, 2], name="other")
    (store.folder / "notes.txt").write_text("precious")
    with pytest.raises(DataError, match="would be lost"):
        make_store(tmp_path, [3, 3], name="other")
    assert (store.folder / "notes.txt").exists()


def test_opening_maps_and_does_not_load(tmp_path):
    """Opening a store of 1.3 GB (a sparse file) and reading one pixel adds less than 50 MB to the process."""
    store = make_store(tmp_path, [2, 2], shape=(84, 84, 3))
    images = 60_000
    with (store.folder / "data.npy").open("wb") as file:
        header = {"descr": "|u1", "fortran_order": False, "shape": (images, 84, 84, 3)}
        np.lib.format.write_array_header_1_0(file, header)
        file.truncate(file.tell() + images * 84 * 84 * 3)
    script = f"""
import json, pathlib, resource, samovar.data.store as s
folder = pathlib.Path({str(store.folder)!r})
facts = json.loads((folder / "store.json").read_text())
facts["classes"] = [{{"name": str(i), "count": 600, "group": None}} for i in range(100)]
facts["splits"] = {{"all": {{"train": [str(i) for i in range(100)]}}}}
facts["seal"] = s._seal(facts)
(folder / "store.json").write_text(json.dumps(facts))
before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
store = s.Store(folder)
assert store.array.nbytes > 1.2e9 and int(store.array[59_999, 0, 0, 0]) == 0
assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 50_000, "kilobytes"
"""
    subprocess.run([sys.executable, "-c", script], check=True)


def test_preparing_again_does_nothing_and_other_options_replace(tmp_path):
    first = make_store(tmp_path, [3, 4])
    stamp = (first.folder / "data.npy").stat().st_mtime_ns
    assert (make_store(tmp_path, [3, 4]).folder / "data.npy").stat().st_mtime_ns == stamp
    assert len(make_store(tmp_path, [3, 5]).array) == 8
    assert sorted(path.name for path in tmp_path.iterdir()) == [".toy.lock", "toy"]


@pytest.mark.parametrize("damage", ["truncate data", "truncate facts", "edit facts", "remove data"])
def test_damage_is_noticed_on_opening(tmp_path, damage):
    store = make_store(tmp_path, [3, 4])
    data, facts = store.folder / "data.npy", store.folder / "store.json"
    if damage == "truncate data":
        os.truncate(data, data.stat().st_size - 1)
    elif damage == "truncate facts":
        os.truncate(facts, 100)
    elif damage == "edit facts":
        facts.write_text(facts.read_text().replace('"title": "toy"', '"title": "boy"'))
    else:
        data.unlink()
    with pytest.raises(DataError, match=r"samovar data prepare"):
        Store(store.folder)


def test_verify_notices_a_changed_byte(tmp_path):
    store = make_store(tmp_path, [3, 4])
    store.verify()
    with (store.folder / "data.npy").open("r+b") as file:
        file.seek(-1, os.SEEK_END)
        file.write(b"\xff")
    with pytest.raises(DataError, match="has changed"):
        Store(store.folder).verify()


def failing_contents(fail_at: int) -> Contents:
    def read(position: int) -> np.ndarray:
        if position == fail_at:
            raise DataError("broken image")
        return np.zeros((2, 4, 4, 1))

    return Contents([ClassEntry(str(i), 2) for i in range(4)], (4, 4, 1), read, {"all": {"train": ["0"]}})


def test_an_error_midway_leaves_nothing(tmp_path):
    with pytest.raises(DataError, match="broken image"):
        write_store("half", FACTS, failing_contents(2), tmp_path)
    with pytest.raises(DataError, match="no prepared data"):
        open_store("half", tmp_path)
    assert [path.name for path in tmp_path.iterdir()] == [".half.lock"]


def test_remains_of_a_killed_process_are_no_store_and_are_cleared(tmp_path):
    (tmp_path / ".toy.writing").mkdir()
    (tmp_path / ".toy.writing" / "data.npy").write_bytes(b"half")
    with pytest.raises(DataError):
        open_store("toy", tmp_path)
    make_store(tmp_path, [2, 2])
    assert not (tmp_path / ".toy.writing").exists()


def test_a_store_that_could_not_be_replaced_is_still_there(tmp_path):
    """Between the old store's leaving and the new one's coming something went wrong: here there is no new one."""
    make_store(tmp_path, [2, 2])
    with pytest.raises(FileNotFoundError):
        _replace(tmp_path / ".toy.writing", tmp_path / "toy")
    assert len(open_store("toy", tmp_path).array) == 4
    assert not (tmp_path / ".toy.writing.old").exists()


def test_full_disk(tmp_path):
    """A limit on the size of files makes write() fail midway, as a full disk does."""
    script = f"""
import resource, sys
sys.path.insert(0, {str(Path(__file__).parent)!r})
from conftest import make_store
import pathlib
resource.setrlimit(resource.RLIMIT_FSIZE, (20_000, 20_000))
make_store(pathlib.Path({str(tmp_path)!r}), [100, 100], shape=(32, 32, 3))
"""
    failed = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=False)
    assert "OutputError" in failed.stderr
    assert "SAMOVAR_DATA" in failed.stderr
    assert [path.name for path in tmp_path.iterdir()] == [".toy.lock"]


def test_data_folder_that_is_a_file(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(OutputError, match="SAMOVAR_DATA"):
        make_store(tmp_path / "file", [2, 2])


def _prepare(folder: str) -> int:
    return len(make_store(Path(folder), [50] * 20).array)


def test_several_processes_at_once_do_no_harm(tmp_path):
    with multiprocessing.get_context("spawn").Pool(3) as pool:
        assert pool.map(_prepare, [str(tmp_path)] * 3) == [1000] * 3
    open_store("toy", tmp_path).verify()


@pytest.mark.parametrize(
    ("names", "counts", "split", "words"),
    [
        (["a", "a"], [1, 1], {}, "two classes called 'a'"),
        (["a", "b"], [1, 0], {}, "'b' of x has no images"),
        (["a"], [1], {"train": ["c"]}, "lists 'c'"),
        (["a"], [1], {"train": ["a"], "test": ["a"]}, "lists a class twice"),
        ([], [], {}, "has no classes"),
    ],
)
def test_contents_that_make_no_sense(tmp_path, names, counts, split, words):
    classes = [ClassEntry(name, count) for name, count in zip(names, counts, strict=True)]
    contents = Contents(classes, (1, 1, 1), lambda position: np.zeros((counts[position], 1, 1, 1)), {"all": split})
    with pytest.raises(DataError, match=words):
        write_store("x", FACTS, contents, tmp_path)


@pytest.mark.parametrize("name", ["", ".", "..", "../x", "a/b"])
def test_names_that_are_paths(name, tmp_path):
    with pytest.raises(DataError, match="not a name"):
        open_store(name, tmp_path)


def test_unknown_splits(toy):
    with pytest.raises(DataError, match="no part 'nonsense'"):
        toy.store.split("nonsense")
    with pytest.raises(DataError, match="no split called 'other'"):
        toy.store.split("train", "other")
