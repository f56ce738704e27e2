"""Tar archives are read once, within limits; hostile headers are refused and never followed."""

import gzip
import io
import os
import tarfile

import pytest

from samovar.data.tar_reader import read_tar
from samovar.errors import DataError


def make_tar(path, entries, **options):
    with tarfile.open(path, "w:gz", **options) as archive:
        for name, content in entries.items():
            member = tarfile.TarInfo(name)
            member.size = len(content)
            archive.addfile(member, io.BytesIO(content))
    return path


def header(name: str, size: bytes, kind: bytes = b"0") -> bytes:
    """A header of an archive with any text for the size."""
    block = bytearray(512)
    block[: len(name)] = name.encode()
    block[124:136] = size.ljust(12, b"\0")
    block[156:157] = kind
    block[257:265] = b"ustar\x0000"
    block[148:156] = b" " * 8
    block[148:156] = f"{sum(block):06o}\0 ".encode()
    return bytes(block)


def octal(size: int) -> bytes:
    return f"{size:011o}".encode()


def padded(content: bytes) -> bytes:
    return content + bytes(-len(content) % 512)


def test_only_the_named_tar_entries_are_read_each_up_to_its_limit(tmp_path):
    path = make_tar(tmp_path / "a.tar.gz", {"x/train.bin": b"12345", "x/other.bin": b"1" * 100})
    assert read_tar(path, ("train.bin",), largest=5) == {"train.bin": b"12345"}
    with pytest.raises(DataError, match=r"x/train.bin in .* has 5 bytes; at most 4"):
        read_tar(path, ("train.bin",), largest=4)


@pytest.mark.parametrize("form", [tarfile.USTAR_FORMAT, tarfile.GNU_FORMAT, tarfile.PAX_FORMAT])
@pytest.mark.parametrize("folder", ["x", "long" * 20 + "/" + "name" * 30, "é" * 70])
def test_all_ways_to_store_a_name_are_understood(tmp_path, form, folder):
    try:
        path = make_tar(tmp_path / "a.tar.gz", {f"{folder}/train.bin": b"12345"}, format=form)
    except ValueError:
        pytest.skip("this form cannot store such a name")
    assert read_tar(path, ("train.bin",), largest=5) == {"train.bin": b"12345"}


def test_a_tar_entry_that_is_a_link_is_not_followed(tmp_path):
    path = tmp_path / "a.tar"
    with tarfile.open(path, "w") as archive:
        member = tarfile.TarInfo("train.bin")
        member.type = tarfile.SYMTYPE
        member.linkname = "/etc/passwd"
        archive.addfile(member)
    assert read_tar(path, ("train.bin",), largest=10**6) == {}


def pax(text: bytes) -> bytes:
    return header("x", octal(len(text)), b"x") + padded(text)


@pytest.mark.parametrize(
    ("content", "words"),
    [
        # CVE-2025-8194: tarfile goes backwards, for ever.
        (pax(b"13 size=-512\n") + header("train.bin", octal(0)), "two sizes"),
        (header("train.bin", b"-0000001000"), "a number in a header is damaged"),
        (header("train.bin", b"\xff" * 11), "a number in a header is damaged"),
        (header("train.bin", octal(8 * 10**9)), "has 8,000,000,000 bytes; at most 1,000"),
        (header("other.bin", octal(8 * 10**9)), "is cut short|unpacks to more than"),
        (header("train.bin", octal(0), b"S"), "has a sparse entry"),
        (pax(b"22 GNU.sparse.major=1\n") + header("train.bin", octal(0)), "is sparse"),
        (header("x", octal(2 * 10**6), b"x") + bytes(2 * 10**6), "attributes of more than"),
        (header("x", octal(2 * 10**6), b"L") + bytes(2 * 10**6), "attributes of more than"),
        ((header("x", octal(5000), b"g") + padded(b"1" * 5000)) * 500, "attributes of more than"),
        (pax(b"0 a=b\n"), "attributes of an entry are damaged"),
        (pax(b"9" * 30 + b" a=b\n"), "attributes of an entry are damaged"),
        (header("x", octal(0)) * 10_001, "more than 10,000 entries"),
        (header("../train.bin", octal(0)), "points outside"),
        (b"x" * 512, "checksum of a header|a number in a header"),
        (header("train.bin", octal(500)) + b"short", "cut short"),
        (b"", "cut short"),
    ],
)
@pytest.mark.parametrize("packed", [True, False])
def test_hostile_headers_are_refused(tmp_path, content, words, packed):
    path = tmp_path / "a.tar.gz"
    path.write_bytes(gzip.compress(content) if packed else content)
    with pytest.raises(DataError, match=rf"a\.tar\.gz .*({words})|({words}).*"):
        read_tar(path, ("train.bin",), largest=1000)


def test_an_archive_that_unpacks_without_end_is_given_up(tmp_path):
    """Two hundred kilobytes that unpack to two hundred megabytes, of which nothing is wanted."""
    path = tmp_path / "a.tar.gz"
    entry = header("other.bin", octal(20 * 10**6)) + padded(bytes(20 * 10**6))
    path.write_bytes(gzip.compress(entry) * 10)
    with pytest.raises(DataError, match=r"a.tar.gz unpacks to more than 16,781,216 bytes"):
        read_tar(path, ("train.bin",), largest=1000)


def test_pipes_are_not_waited_for(tmp_path):
    os.mkfifo(tmp_path / "a.tar.gz")
    with pytest.raises(DataError, match=r"a.tar.gz is not a file"):
        read_tar(tmp_path / "a.tar.gz", ("train.bin",), largest=1000)
