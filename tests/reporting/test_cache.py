"""The cache of a command is closed with it, and trouble with it is said once."""

import sqlite3

import numpy as np
import pytest

from samovar.encoders.vector_cache import VectorCache
from samovar.reporting.cache import vector_cache


def test_what_is_put_in_is_there_afterwards(cache_folder, capsys):
    with vector_cache(wanted=True) as cache:
        cache.put("an encoder", "an image", np.ones(2, np.float32))
    with VectorCache(cache_folder) as again:
        assert again.get("an encoder", "an image", 2) is not None
    assert capsys.readouterr().err == ""


def test_without_it_nothing_is_opened(cache_folder):
    with vector_cache(wanted=False) as cache:
        assert cache is None
    assert list(cache_folder.iterdir()) == []


@pytest.mark.parametrize("trouble", ["a file in the way", "damaged", "locked"])
def test_trouble_is_said_once_and_does_no_harm(trouble, cache_folder, monkeypatch, capsys):
    other = None
    if trouble == "a file in the way":
        (cache_folder / "file").write_text("")
        monkeypatch.setenv("SAMOVAR_CACHE", str(cache_folder / "file"))
    elif trouble == "damaged":
        (cache_folder / "vectors.sqlite").write_bytes(b"no database" * 1000)
    else:
        VectorCache(cache_folder).close()
        other = sqlite3.connect(cache_folder / "vectors.sqlite")
        other.execute("BEGIN EXCLUSIVE")
    with vector_cache(wanted=True, patience=0.01) as cache:
        for number in range(3):
            assert cache.get("an encoder", str(number), 2) is None
            cache.put("an encoder", str(number), np.ones(2, np.float32))
            cache.flush()
    if other is not None:
        other.close()
    complaint = capsys.readouterr().err
    assert complaint.count("samovar: The cache of vectors") == 1
    assert ("started anew" in complaint) == (trouble == "damaged")
