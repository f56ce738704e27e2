"""Archives are read without unpacking, and hostile names and sizes are refused."""

import io
import tarfile
import zipfile

import pytest
from helpers_sources import make_zip

from samovar.data.archive import Zip, find, read_tar, safe_name
from samovar.data.images.decode import LARGEST_FILE
from samovar.errors import DataError


def test_files_are_found_at_the_root_and_two_folders_below_it(tmp_path):
    deep = tmp_path / "a" / "b" / "data.zip"
    deep.parent.mkdir(parents=True)
    deep.touch()
    assert find(deep, "data.zip") == deep
    assert find(tmp_path, "data.zip") == deep
    assert find(tmp_path.parent, "data.zip") is None, "three folders below"
    (tmp_path / "data.zip").touch()
    assert find(tmp_path, "data.zip") == tmp_path / "data.zip", "the nearest comes first"


@pytest.mark.parametrize("name", ["../x", "a/../../x", "/etc/passwd", "..\\x", "C:\\x", "C:x"])
def test_names_that_point_outside_are_refused(tmp_path, name):
    with pytest.raises(DataError, match=r"data.zip has an entry that points outside it"):
        safe_name(name, tmp_path / "data.zip")


def test_plain_names_stay_and_backslashes_become_slashes(tmp_path):
    assert safe_name("images/cat.png", tmp_path) == "images/cat.png"
    assert safe_name("images\\cat.png", tmp_path) == "images/cat.png"


def test_zip_entries_are_read_by_name_and_folders_are_left_out(tmp_path):
    archive = Zip(make_zip(tmp_path / "a.zip", {"x/": b"", "x/one.txt": b"1", "two.txt": b"2"}))
    assert set(archive.entries) == {"x/one.txt", "two.txt"}
    assert archive.read("x/one.txt") == b"1"


def test_a_zip_entry_that_claims_too_many_bytes_is_not_unpacked(tmp_path):
    archive = Zip(make_zip(tmp_path / "a.zip", {"bomb.png": b"small"}))
    archive.entries["bomb.png"].file_size = LARGEST_FILE + 1
    with pytest.raises(DataError, match=r"bomb.png in .* unpacks to 268,435,457 bytes"):
        archive.read("bomb.png")


def test_a_zip_entry_whose_bytes_are_damaged_is_refused(tmp_path):
    path = make_zip(tmp_path / "a.zip", {"one.txt": b"precious content"})
    path.write_bytes(path.read_bytes().replace(b"precious", b"spacious"))
    with pytest.raises(DataError, match=r"a.zip is damaged"):
        Zip(path).read("one.txt")


def test_an_encrypted_zip_is_refused(tmp_path):
    path = make_zip(tmp_path / "a.zip", {"one.txt": b"1"})
    with zipfile.ZipFile(path) as archive:
        start = archive.start_dir
    content = bytearray(path.read_bytes())
    content[6] |= 1  # the flag in the local header ...
    content[start + 8] |= 1  # ... and in the directory
    path.write_bytes(bytes(content))
    with pytest.raises(DataError, match=r"a.zip is damaged .*encrypted"):
        Zip(path).read("one.txt")


def make_tar(path, entries):
    with tarfile.open(path, "w:gz") as archive:
        for name, content in entries.items():
            member = tarfile.TarInfo(name)
            member.size = len(content)
            archive.addfile(member, io.BytesIO(content))
    return path


def test_only_the_named_tar_entries_are_read_each_up_to_its_limit(tmp_path):
    path = make_tar(tmp_path / "a.tar.gz", {"x/train.bin": b"12345", "x/other.bin": b"1" * 100})
    assert read_tar(path, ("train.bin",), largest=5) == {"train.bin": b"12345"}
    with pytest.raises(DataError, match=r"x/train.bin in .* has 5 bytes; at most 4"):
        read_tar(path, ("train.bin",), largest=4)


def test_a_tar_entry_that_is_a_link_is_not_followed(tmp_path):
    path = tmp_path / "a.tar"
    with tarfile.open(path, "w") as archive:
        member = tarfile.TarInfo("train.bin")
        member.type = tarfile.SYMTYPE
        member.linkname = "/etc/passwd"
        archive.addfile(member)
    assert read_tar(path, ("train.bin",), largest=10**6) == {}
