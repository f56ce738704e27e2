"""Files, folders, archives and lists may be mixed."""

import io
from pathlib import Path

import pytest
from helpers_images import make_folder

from samovar.cli.named_images import named_images
from samovar.errors import DataError


def test_all_kinds_of_places_may_be_mixed_and_keep_their_order(tmp_path, monkeypatch):
    folder = make_folder(tmp_path / "photos", {"one": 1}, 2)
    (folder / "one" / "notes.txt").write_text("none")
    (tmp_path / "list.txt").write_text("photos/one/1.png\n")
    monkeypatch.setattr("sys.stdin", io.StringIO(str(folder / "one" / "0.png")))
    places = [tmp_path / "missing.png", tmp_path / "list.txt", folder, Path("-")]
    named = named_images(places)
    names = [Path(file.name).name for file in named.files]
    assert names == ["missing.png", "1.png", "0.png", "1.png", "0.png"]
    assert str(named.left_out) == "1 .txt file"
    assert named.note == ""


def test_folders_that_are_not_searched_are_counted(tmp_path):
    folder = make_folder(tmp_path / "photos", {"one": 1, "two": 2}, 1)
    (folder / "one" / "0.png").rename(folder / "0.png")
    assert named_images([folder]).note.startswith("2 folders inside were not searched")
    assert named_images([folder], recursive=True).note == ""


class Endless(io.StringIO):
    """A standard input that never ends."""

    def read(self, size: int | None = -1, /) -> str:
        assert size is not None
        assert size > 0, "all of it would be waited for"
        return "x" * size


def test_a_list_without_end_is_refused(monkeypatch):
    monkeypatch.setattr("sys.stdin", Endless())
    with pytest.raises(DataError, match="standard input has more than 134,217,728 characters"):
        named_images([Path("-")])
    monkeypatch.setattr("sys.stdin", io.StringIO("\n" * 1_000_001))
    with pytest.raises(DataError, match="standard input has more than 1,000,000 lines"):
        named_images([Path("-")])


def test_no_images_at_all_is_an_error(tmp_path):
    with pytest.raises(DataError, match="No images were given"):
        named_images([])
    (tmp_path / "notes.txt").mkdir()
    (tmp_path / "readme.md").write_text("none")
    with pytest.raises(DataError, match=r"no images to label in .* Left out: 1 \.md file"):
        named_images([tmp_path])
