"""The cache gives back what was put in, stays within its size, and is never trusted blindly."""

import sqlite3
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest

from samovar.encoders import vector_cache
from samovar.encoders.vector_cache import VectorCache


def vector(seed: int, length: int = 8) -> np.ndarray:
    return np.random.default_rng(seed).normal(size=length).astype(np.float32)


def test_vectors_are_found_again_by_encoder_and_image(tmp_path):
    with VectorCache(tmp_path) as cache:
        cache.put("a", "photo", vector(0))
        np.testing.assert_array_equal(cache.get("a", "photo", 8), vector(0))
    with VectorCache(tmp_path) as cache:
        np.testing.assert_array_equal(cache.get("a", "photo", 8), vector(0))
        assert cache.get("b", "photo", 8) is None
        assert cache.get("a", "another", 8) is None
        assert cache.get("a", "photo", 9) is None
        assert cache.hits == 1


def test_the_folder_is_that_of_the_variable(cache_folder):
    assert VectorCache().path.parent == cache_folder


def test_the_folder_is_the_users_cache_by_default(monkeypatch):
    monkeypatch.delenv("SAMOVAR_CACHE")
    monkeypatch.setenv("XDG_CACHE_HOME", "/somewhere")
    assert vector_cache.cache_folder() == Path("/somewhere/samovar/cache")


def test_the_oldest_are_removed_beyond_the_limit(tmp_path):
    limit = 200_000
    with VectorCache(tmp_path, limit) as cache:
        for number in range(400):
            cache.put("a", str(number), vector(number, 256))
            if number % 50 == 49:
                cache.flush()
                assert cache.used <= limit
        assert cache.get("a", "0", 256) is None
        np.testing.assert_array_equal(cache.get("a", "399", 256), vector(399, 256))
    assert cache.path.stat().st_size < 2 * limit


def test_a_damaged_entry_is_ignored_and_can_be_replaced(tmp_path):
    with VectorCache(tmp_path) as cache:
        cache.put("a", "photo", vector(0))
    with sqlite3.connect(cache.path) as database:
        database.execute("UPDATE vectors SET vector = ?", (vector(1).tobytes(),))
    database.close()
    with VectorCache(tmp_path) as cache:
        assert cache.get("a", "photo", 8) is None
        cache.put("a", "photo", vector(0))
    with VectorCache(tmp_path) as cache:
        np.testing.assert_array_equal(cache.get("a", "photo", 8), vector(0))


@pytest.mark.parametrize("content", [b"no database at all" * 1000, b"", b"SQLite format 3\0" * 99])
def test_a_file_that_is_no_database_is_replaced(content, tmp_path):
    (tmp_path / "vectors.sqlite").write_bytes(content)
    with VectorCache(tmp_path) as cache:
        cache.put("a", "photo", vector(0))
    with VectorCache(tmp_path) as cache:
        np.testing.assert_array_equal(cache.get("a", "photo", 8), vector(0))


def test_a_database_damaged_in_the_middle_does_no_harm(tmp_path):
    with VectorCache(tmp_path) as cache:
        for number in range(200):
            cache.put("a", str(number), vector(number, 256))
    content = bytearray(cache.path.read_bytes())
    content[8192 : len(content) // 2] = b"\xff" * (len(content) // 2 - 8192)
    cache.path.write_bytes(content)
    with VectorCache(tmp_path) as cache:
        for number in range(200):
            found = cache.get("a", str(number), 256)
            assert found is None or np.array_equal(found, vector(number, 256))
        cache.put("a", "new", vector(0))


def test_where_nothing_can_be_written_nothing_is_cached(tmp_path):
    (tmp_path / "file").write_text("in the way")
    with VectorCache(tmp_path / "file") as cache:
        cache.put("a", "photo", vector(0))
        cache.flush()
        assert cache.get("a", "photo", 8) is None
        assert cache.used == 0


def test_several_caches_on_one_file_write_at_once(tmp_path):
    def fill(worker: int) -> None:
        with VectorCache(tmp_path) as cache:
            for number in range(60):
                cache.put("a", f"{worker} {number}", vector(number))
                if number % 7 == 0:
                    cache.flush()

    with ThreadPoolExecutor(4) as pool:
        list(pool.map(fill, range(4)))
    with VectorCache(tmp_path) as cache:
        for worker in range(4):
            for number in range(60):
                np.testing.assert_array_equal(
                    cache.get("a", f"{worker} {number}", 8), vector(number)
                )


def test_a_file_that_another_process_holds_is_waited_for_only_once(tmp_path):
    VectorCache(tmp_path).close()
    other = sqlite3.connect(tmp_path / "vectors.sqlite")
    with VectorCache(tmp_path, patience=0.01) as cache:
        other.execute("BEGIN EXCLUSIVE")
        assert cache.get("a", "photo", 8) is None
        assert "locked" in cache.notice
        other.close()
        assert cache.get("a", "photo", 8) is None, "given up, so that nothing waits again"
        cache.put("a", "photo", vector(0))


def test_a_file_that_cannot_be_written_is_still_read(tmp_path, monkeypatch):
    with VectorCache(tmp_path) as cache:
        cache.put("a", "photo", vector(0))
    connect = sqlite3.connect
    # Rights on files do not hold for root, who may run the tests.
    monkeypatch.setattr(
        sqlite3,
        "connect",
        lambda path, **options: connect(f"file:{path}?mode=ro", uri=True, **options),
    )
    with VectorCache(tmp_path) as cache:
        np.testing.assert_array_equal(cache.get("a", "photo", 8), vector(0))
        assert cache.notice is None
        cache.put("a", "another", vector(1))
    assert "readonly" in cache.notice


def test_a_user_without_a_home_has_no_cache(monkeypatch):
    monkeypatch.delenv("SAMOVAR_CACHE")
    monkeypatch.delenv("XDG_CACHE_HOME", raising=False)

    def no_home(_: Path) -> Path:
        raise RuntimeError("Could not determine home directory.")

    monkeypatch.setattr(Path, "expanduser", no_home)
    with VectorCache() as cache:
        assert cache.get("a", "photo", 8) is None
    assert "home directory" in cache.notice
