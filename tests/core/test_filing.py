"""Filing a file away never overwrites and never loses, and can be done again and undone."""

import errno
import os
from pathlib import Path

import pytest
from helpers_filing import everything, write_photos
from hypothesis import given, settings
from hypothesis import strategies as st

from samovar.core import filing as module
from samovar.core.filing import Filing, file_away, free_name, take_back

WAYS = ("link", "copy", "move")


def photo(tmp_path: Path, by: str) -> Filing:
    (path,) = write_photos(tmp_path / "heap", ["1.jpg"])
    return Filing.of(path, "cat/1.jpg", by)


@pytest.mark.parametrize("by", WAYS)
def test_there_and_back_twice_is_as_if_nothing_had_been(by, tmp_path):
    filing = photo(tmp_path, by)
    before = everything(tmp_path)
    for _ in range(2):
        assert file_away(filing, tmp_path / "sorted")
    assert (tmp_path / "sorted" / "cat" / "1.jpg").read_text() == "photo 1.jpg"
    assert (tmp_path / "heap" / "1.jpg").exists() == (by != "move")
    for _ in range(2):
        assert take_back(filing, tmp_path / "sorted")
    assert everything(tmp_path) == before


@pytest.mark.parametrize("by", WAYS)
def test_what_is_in_the_place_stays(by, tmp_path):
    filing = photo(tmp_path, by)
    write_photos(tmp_path / "sorted" / "cat", ["1.jpg"])[0].write_text("somebody else's")
    before = everything(tmp_path)
    assert not file_away(filing, tmp_path / "sorted")
    assert everything(tmp_path) == before
    if by != "move":  # to undo a move would be to move it, which is right
        assert not take_back(filing, tmp_path / "sorted")
        assert everything(tmp_path) == before


@pytest.mark.parametrize("by", WAYS)
def test_a_file_that_has_the_name_of_the_folder_stays(by, tmp_path):
    filing = photo(tmp_path, by)
    (tmp_path / "sorted").mkdir()
    (tmp_path / "sorted" / "cat").write_text("a note")
    before = everything(tmp_path)
    assert not file_away(filing, tmp_path / "sorted")
    assert everything(tmp_path) == before


def test_a_changed_copy_and_the_only_copy_are_not_removed(tmp_path):
    filing = photo(tmp_path, "copy")
    target = tmp_path / "sorted" / "cat" / "1.jpg"
    assert file_away(filing, tmp_path / "sorted")
    target.write_text("retouched")
    assert not take_back(filing, tmp_path / "sorted")
    target.write_text("photo 1.jpg")
    Path(filing.source).unlink()
    assert not take_back(filing, tmp_path / "sorted")
    Path(filing.source).symlink_to(target)  # the original is now a link to the copy
    assert not take_back(filing, tmp_path / "sorted")
    assert target.read_text() == "photo 1.jpg"


def test_a_move_that_was_cut_short_when_the_file_was_at_both_places_is_finished(tmp_path):
    filing = photo(tmp_path, "move")
    (target,) = write_photos(tmp_path / "sorted" / "cat", ["1.jpg"])
    assert file_away(filing, tmp_path / "sorted")
    assert not Path(filing.source).exists()
    assert target.read_text() == "photo 1.jpg"


def test_to_another_disk_a_move_is_a_copy_with_its_time_and_then_a_removal(tmp_path, monkeypatch):
    filing = photo(tmp_path, "move")
    plain = module.rename_new

    def rename(source: Path, target: Path) -> None:
        if not source.name.startswith("."):  # the temporary file is on the same disk
            raise OSError(errno.EXDEV, os.strerror(errno.EXDEV))
        plain(source, target)

    monkeypatch.setattr(module, "rename_new", rename)
    monkeypatch.setattr("samovar.core.files.rename_new", plain)
    assert file_away(filing, tmp_path / "sorted")
    target = tmp_path / "sorted" / "cat" / "1.jpg"
    assert not Path(filing.source).exists()
    assert (target.read_text(), target.stat().st_mtime_ns) == ("photo 1.jpg", filing.time)


def test_a_photo_is_new_when_it_has_changed_or_is_elsewhere(tmp_path):
    filing = photo(tmp_path, "link")
    assert filing.is_of(Path(filing.source))
    assert not filing.is_of(tmp_path / "heap" / "2.jpg")
    Path(filing.source).write_text("another photo of the same name")
    assert not filing.is_of(Path(filing.source))


@settings(max_examples=60)
@given(st.lists(st.sampled_from(["a.jpg", "A.JPG", "b.jpg", "a (2).jpg", "c"]), max_size=8))
def test_names_are_free_and_keep_their_ending(names):
    taken: set[str] = set()
    for name in names:
        free = free_name(name, taken)
        assert free.casefold() not in taken
        assert Path(free).suffix == Path(name).suffix
        taken.add(free.casefold())
