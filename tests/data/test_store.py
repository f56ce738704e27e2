"""A store is mapped and not loaded, and notices damage."""

import os
import subprocess
import sys

import numpy as np
import pytest
from helpers import PEAK, make_store

from samovar.data.store import ClassEntry, Contents, Store, data_folder, open_store
from samovar.data.store_writer import write_store
from samovar.errors import DataError


def test_statistics_follow_the_splitting_scheme(tmp_path):
    images = np.arange(24, dtype=np.uint8).reshape(4, 2, 1, 3)  # two classes of two
    contents = Contents(
        [ClassEntry("a", 2), ClassEntry("b", 2)],
        (2, 1, 3),
        lambda position: images[2 * position : 2 * position + 2],
        {"first": {"train": ["a"], "test": ["b"]}, "second": {"train": ["b"], "test": ["a"]}},
    )
    store = write_store("toy", {}, contents, tmp_path)
    for scheme, training in ((None, images[:2]), ("first", images[:2]), ("second", images[2:])):
        mean, std = store.statistics(scheme)
        np.testing.assert_allclose(mean, training.mean((0, 1, 2)))
        np.testing.assert_allclose(std, training.std((0, 1, 2)))


@pytest.mark.slow
def test_opening_maps_and_does_not_load(tmp_path):
    """Opening a store of 1.3 GB (a sparse file) and reading a pixel takes less than 50 MB."""
    store = make_store(tmp_path, [2, 2], shape=(84, 84, 3))
    images = 60_000
    with (store.folder / "data.npy").open("wb") as file:
        header = {"descr": "|u1", "fortran_order": False, "shape": (images, 84, 84, 3)}
        np.lib.format.write_array_header_1_0(file, header)
        file.truncate(file.tell() + images * 84 * 84 * 3)
    script = f"""{PEAK}
import json, pathlib, samovar.data.store as s
from samovar.core.stored_json import seal
folder = pathlib.Path({str(store.folder)!r})
facts = json.loads((folder / "store.json").read_text())
facts["classes"] = [{{"name": str(i), "count": 600, "group": None}} for i in range(100)]
facts["splits"] = {{"all": {{"train": [str(i) for i in range(100)]}}}}
facts["seal"] = seal(facts)
(folder / "store.json").write_text(json.dumps(facts))
before = peak()
store = s.Store(folder)
assert store.array.nbytes > 1.2e9 and int(store.array[59_999, 0, 0, 0]) == 0
assert peak() - before < 50_000, "kilobytes"
"""
    subprocess.run([sys.executable, "-c", script], check=True)


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


@pytest.mark.parametrize("name", ["", ".", "..", "../x", "a/b"])
def test_names_that_are_paths(name, tmp_path):
    with pytest.raises(DataError, match="not the name"):
        open_store(name, tmp_path)


def test_unknown_splits(toy):
    with pytest.raises(DataError, match="no split 'nonsense'"):
        toy.store.split("nonsense")
    with pytest.raises(DataError, match="no splitting scheme 'other'"):
        toy.store.split("train", "other")


def test_without_a_home_folder_the_variable_is_named(monkeypatch):
    """As in a container whose user has neither $HOME nor an entry in the list of users."""

    def no_entry(uid: int) -> None:
        raise KeyError(uid)

    for name in ("HOME", "SAMOVAR_DATA", "XDG_CACHE_HOME"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr("pwd.getpwuid", no_entry)
    with pytest.raises(DataError, match=r"no home folder .* SAMOVAR_DATA"):
        data_folder()
