"""A store is written whole or not at all, and replaces nothing that is not a store."""

import errno
import multiprocessing
import os
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import helpers
import numpy as np
import pytest
from helpers import length_of_new_store, make_store

from samovar.data.store import ClassEntry, Contents, open_store
from samovar.data.store_writer import write_store
from samovar.errors import DataError, OutputError

FACTS = {"title": "", "licence": "", "citation": ""}


def test_channel_statistics_are_those_of_the_training_classes(tmp_path):
    split = {"train": ["class 0"], "val": [], "test": ["class 1"]}
    store = make_store(tmp_path, [5, 9], split=split)
    assert store.facts["mean"] == pytest.approx([2.0] * 3)
    assert store.facts["std"] == pytest.approx([np.sqrt(2)] * 3)


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


def test_preparing_again_does_nothing_and_other_options_replace(tmp_path):
    first = make_store(tmp_path, [3, 4])
    stamp = (first.folder / "data.npy").stat().st_mtime_ns
    assert (make_store(tmp_path, [3, 4]).folder / "data.npy").stat().st_mtime_ns == stamp
    assert len(make_store(tmp_path, [3, 5]).array) == 8
    assert sorted(path.name for path in tmp_path.iterdir()) == [".toy.lock", "toy"]


def failing_contents(fail_at: int) -> Contents:
    def read(position: int) -> np.ndarray:
        if position == fail_at:
            raise DataError("broken image")
        return np.zeros((2, 4, 4, 1))

    return Contents(
        [ClassEntry(str(i), 2) for i in range(4)], (4, 4, 1), read, {"all": {"train": ["0"]}}
    )


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


@pytest.mark.slow
def test_full_disk(tmp_path):
    """A limit on the size of files makes write() fail midway, as a full disk does."""
    script = f"""
import resource, sys
sys.path.insert(0, {str(Path(helpers.__file__).parent)!r})
from helpers import make_store
import pathlib
resource.setrlimit(resource.RLIMIT_FSIZE, (20_000, 20_000))
make_store(pathlib.Path({str(tmp_path)!r}), [100, 100], shape=(32, 32, 3))
"""
    failed = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=False
    )
    assert "OutputError" in failed.stderr
    assert "SAMOVAR_DATA" in failed.stderr
    assert [path.name for path in tmp_path.iterdir()] == [".toy.lock"]


def test_data_folder_that_is_a_file(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(OutputError, match="SAMOVAR_DATA"):
        make_store(tmp_path / "file", [2, 2])


@pytest.mark.slow
def test_several_processes_at_once_do_no_harm(tmp_path):
    with multiprocessing.get_context("spawn").Pool(3) as pool:
        assert pool.map(length_of_new_store, [str(tmp_path)] * 3) == [1000] * 3
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
    contents = Contents(
        classes, (1, 1, 1), lambda position: np.zeros((counts[position], 1, 1, 1)), {"all": split}
    )
    with pytest.raises(DataError, match=words):
        write_store("x", FACTS, contents, tmp_path)


def test_a_store_learns_the_encoder_of_its_vectors_when_prepared_again(tmp_path):
    """A store of an earlier version does not know it; then it is written anew, else kept."""
    vectors = np.arange(12, dtype=np.float32).reshape(4, 3)
    plain = Contents(
        [ClassEntry("a", 4)], (3,), lambda _: vectors, {"own": {"train": ["a"]}}, dtype="float32"
    )
    known = replace(plain, encoder={"name": "tiny", "identity": "1", "length": 3})
    first = write_store("v", FACTS, plain, tmp_path)
    second = write_store("v", FACTS, known, tmp_path)
    assert (first.encoder, second.encoder) == (None, known.encoder)
    before = (second.folder / "store.json").stat().st_ino
    assert write_store("v", FACTS, known, tmp_path).encoder == known.encoder
    assert (second.folder / "store.json").stat().st_ino == before


@pytest.mark.parametrize(
    ("number", "words"),
    [
        (errno.EACCES, "Make it writable for you, or choose another folder"),
        (errno.EROFS, "Make it writable for you, or choose another folder"),
        (errno.ENOSPC, "Free some space, or choose another folder"),
        (errno.EIO, "Check the disk, or choose another folder"),
    ],
)
def test_a_data_folder_that_cannot_be_written_has_a_fitting_remedy(number, words, tmp_path):
    """The superuser may write everywhere, so the error comes from the images that are read."""

    def read(position: int) -> np.ndarray:
        raise OSError(number, os.strerror(number))

    contents = Contents([ClassEntry("cat", 1)], (2, 2, 3), read, {"all": {"train": ["cat"]}})
    with pytest.raises(OutputError, match=words):
        write_store("own", {}, contents, tmp_path)
