"""Archives are read without unpacking, and hostile names and sizes are refused."""

import os
import zipfile

import pytest
from helpers_sources import make_zip

from samovar.data.archive import LARGEST_RATIO, Zip, find, safe_name
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


def test_fewer_entries_may_be_allowed(tmp_path):
    path = make_zip(tmp_path / "a.zip", {f"{number}.txt": b"1" for number in range(5)})
    assert len(Zip(path, most_entries=5).entries) == 5
    with pytest.raises(DataError, match="more than 4 entries"):
        Zip(path, most_entries=4)
    with pytest.raises(DataError, match="directory has more than 100 bytes"):
        Zip(path, largest_directory=100)


def test_an_entry_may_be_larger_than_a_directory(tmp_path):
    content = os.urandom(5000)
    archive = Zip(make_zip(tmp_path / "a.zip", {"photo.jpg": content}), largest_directory=1000)
    assert archive.read("photo.jpg") == content


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


def test_a_zip_that_unpacks_to_many_times_its_size_is_refused(tmp_path):
    path = tmp_path / "a.zip"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for number in range(5):
            archive.writestr(f"{number}.png", bytes(LARGEST_FILE // 4))
    assert path.stat().st_size * LARGEST_RATIO < LARGEST_FILE
    with pytest.raises(DataError, match=r"a.zip has [\d,]+ bytes and unpacks to 335,544,320"):
        Zip(path)


def test_an_entry_never_unpacks_to_more_than_the_directory_says(tmp_path):
    """Its compressed data are those of a much larger file."""
    path = tmp_path / "a.zip"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("one.png", bytes(10**7))
    archive = Zip(path)
    archive.entries["one.png"].file_size = 10
    with pytest.raises(DataError, match=r"a.zip is damaged"):
        archive.read("one.png")  # its checksum is that of ten million bytes


@pytest.mark.parametrize("method", [zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA])
def test_methods_that_expand_a_kilobyte_to_gigabytes_at_once_are_refused(tmp_path, method):
    path = tmp_path / "a.zip"
    with zipfile.ZipFile(path, "w", method) as archive:
        archive.writestr("one.txt", b"1")
    with pytest.raises(DataError, match=r"one.txt is not compressed by deflate"):
        Zip(path).read("one.txt")


def test_a_zip_entry_without_a_name_does_no_harm(tmp_path):
    path = make_zip(tmp_path / "a.zip", {"one.txt": b"1", "?": b"2"})
    content = path.read_bytes()
    start = content.rindex(b"PK\x01\x02")
    nameless = bytearray(content[start:])
    nameless[28] = 0  # the length of its name in the directory ...
    nameless[46:47] = b""
    nameless[-10] -= 1  # ... and that of the directory
    path.write_bytes(content[:start] + nameless)
    assert set(Zip(path).entries) == {"one.txt", "."}


def test_a_pipe_is_not_waited_for(tmp_path):
    os.mkfifo(tmp_path / "a.zip")
    with pytest.raises(DataError, match=r"a.zip is not a file"):
        Zip(tmp_path / "a.zip")
