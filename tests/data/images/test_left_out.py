"""Reasons are counted, and images that could be read come first."""

from pathlib import PurePath

import pytest

from samovar.data.images.left_out import BESIDE, LeftOut


def counted(*names: str) -> LeftOut:
    left_out = LeftOut()
    for name in names:
        left_out.add_file(PurePath(name))
    return left_out


@pytest.mark.parametrize(
    ("names", "text"),
    [
        ((), ""),
        ((".DS_Store",), "1 hidden file"),
        (("a.TXT", "b.txt", ".x"), "2 .txt files, 1 hidden file"),
        (("a.zip", "b.zip", "README"), "2 .zip archives, 1 file without an extension"),
        (("README", "LICENSE"), "2 files without an extension"),
    ],
)
def test_files_are_counted_by_reason(names, text):
    left_out = counted(*names)
    assert str(left_out) == text
    assert bool(left_out) == bool(text)
    assert not left_out.images


def test_images_that_need_an_installation_come_first(monkeypatch):
    monkeypatch.setattr("samovar.data.images.heif.reads_heif", lambda: False)
    left_out = counted("a.txt", "b.txt", "c.HEIC")
    assert str(left_out) == "1 .heic image (pip install 'samovar[heic]'), 2 .txt files"
    assert left_out.images


def test_counts_of_several_folders_add_up():
    left_out = counted("a.txt")
    more = counted("b.txt")
    more.add(BESIDE)
    more.add(BESIDE)
    left_out.include(more)
    assert sorted(str(left_out).split(", ")) == [
        "2 .txt files",
        "2 images beside the class folders",
    ]


def test_many_reasons_are_cut_short():
    left_out = counted(*(f"x.{letter}" for letter in "abcdefgh"))
    assert str(left_out).endswith(", 2 others")
