"""Files at an address are worked on here, and arrive there whole or not at all."""

from contextlib import suppress
from pathlib import Path

import fsspec
import pytest

from samovar.core.files import write_whole
from samovar.core.storage import absolute, address_of, local_file, local_folder, remove, shown
from samovar.errors import SettingsError


@pytest.fixture(params=["file", "memory"])
def address(request, tmp_path) -> Path:
    """A new folder on a file system of fsspec."""
    root = str(tmp_path).strip("/")
    yield Path(f"{request.param}:///{root}/there")
    fsspec.filesystem("memory").store.clear()


def content(path: Path) -> bytes:
    with fsspec.open(address_of(path), "rb") as file:
        return file.read()


@pytest.mark.parametrize(
    ("text", "address"),
    [
        ("s3://bucket/folder/file.npz", "s3://bucket/folder/file.npz"),
        ("gs://bucket/file", "gs://bucket/file"),
        ("file:///home/me/file", "file:///home/me/file"),
        ("memory://file", "memory://file"),
        ("vectors.npz", None),
        ("/home/me/vectors.npz", None),
        ("C:/vectors.npz", None),
        ("a:b/vectors.npz", None),
    ],
)
def test_addresses_are_told_from_paths(text, address):
    assert address_of(Path(text)) == address
    assert shown(Path(text)) == (address or text)


def test_a_path_stays_where_it_is_and_becomes_absolute_for_others(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert absolute(Path("x")) == str(tmp_path / "x")
    assert absolute(Path("s3://bucket/x")) == "s3://bucket/x"
    with local_file(Path("x")) as file, local_folder(Path("y")) as folder:
        assert (file, folder) == (Path("x"), Path("y"))


def test_a_file_comes_back_to_its_address(address):
    place = address / "deep" / "file.txt"
    with local_file(place) as file:
        assert not file.exists()
        write_whole(file, b"one")
    assert content(place) == b"one"
    with local_file(place) as file:
        assert file.read_bytes() == b"one"
        write_whole(file, b"two")
    assert content(place) == b"two"


def test_after_an_error_the_address_has_what_it_had(address):
    place = address / "file.txt"
    with local_file(place) as file:
        write_whole(file, b"one")
    with suppress(ZeroDivisionError), local_file(place) as file:
        write_whole(file, b"two")
        raise ZeroDivisionError
    assert content(place) == b"one"


def test_a_folder_is_fetched_and_only_what_was_written_is_sent(address):
    with local_folder(address) as folder:
        for name in ("kept/a.txt", "kept/b.txt", "other/c.txt"):
            (folder / name).parent.mkdir(exist_ok=True)
            write_whole(folder / name, b"old")
    # Somebody else writes a file while we work on another.
    with local_folder(address, only="kept") as folder:
        assert sorted(path.name for path in folder.rglob("*.txt")) == ["a.txt", "b.txt"]
        with local_file(address / "kept" / "b.txt") as file:
            write_whole(file, b"theirs")
        write_whole(folder / "kept" / "a.txt", b"ours")
    assert content(address / "kept" / "a.txt") == b"ours"
    assert content(address / "kept" / "b.txt") == b"theirs"
    assert content(address / "other" / "c.txt") == b"old"


def test_files_that_were_moved_are_moved_there_too(address):
    with local_folder(address) as folder:
        write_whole(folder / "a.txt", b"old")
    with local_folder(address) as folder:
        (folder / "earlier").mkdir()
        (folder / "a.txt").rename(folder / "earlier" / "a.txt")
    with local_folder(address) as folder:
        files = [path.relative_to(folder) for path in folder.rglob("*") if path.is_file()]
    assert files == [Path("earlier/a.txt")]


def test_names_that_lead_outside_are_not_fetched(tmp_path):
    store = fsspec.filesystem("memory").store
    with local_file(Path("memory://hostile/results/good.txt")) as file:
        write_whole(file, b"good")
    store["/hostile/results/../../../escaped.txt"] = store["/hostile/results/good.txt"]
    with local_folder(Path("memory://hostile/results")) as folder:
        assert [path.name for path in folder.rglob("*") if path.is_file()] == ["good.txt"]
        assert not list(folder.parent.parent.glob("escaped.txt"))
    store.clear()


def test_what_is_not_needed_any_more_can_be_removed(address, tmp_path):
    with local_folder(address) as folder:
        write_whole(folder / "a.txt", b"old")
    remove(address)
    with local_folder(address) as folder:
        assert list(folder.iterdir()) == []
    remove(address)
    (tmp_path / "here").mkdir()
    remove(tmp_path / "here")
    assert not (tmp_path / "here").exists()


def test_a_file_system_that_is_not_there_is_named():
    with pytest.raises(SettingsError, match="nowhere"), local_file(Path("nowhere://a/b")):
        pass
