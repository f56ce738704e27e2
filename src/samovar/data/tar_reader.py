"""Files of a tar archive, read once from beginning to end and within limits.

Python's own `tarfile` believes what headers claim: sizes below zero make it run in circles
(CVE-2025-8194), and sparse files or long headers of a few kilobytes take gigabytes. The archives
that we read have a handful of plain files, so this reader knows these, long names and nothing else.
It never goes backwards, and everything that it reads is counted.
"""

import gzip
import re
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import BinaryIO

from samovar.core.input_files import open_input
from samovar.data.archive import damage_explained, safe_name
from samovar.errors import DataError

BLOCK = 512
MOST_ENTRIES = 10_000
LARGEST_HEADERS = 2**20
"""Bytes of all headers with long names and attributes together."""
SLACK = 2**24
"""Bytes of an archive that may be unpacked besides those that are wanted."""
PIECE = 2**20
"""Bytes that are skipped at once."""

REGULAR = (b"0", b"\0", b"7")
LONG_NAME = b"L"
LONG_LINK = b"K"
ATTRIBUTES = (b"x", b"X")
COMMON_ATTRIBUTES = b"g"
WITHOUT_DATA = (b"1", b"2", b"3", b"4", b"5", b"6")
"""Links, devices, folders and pipes: nothing follows their headers, whatever size they claim."""
SPARSE = b"S"


def read_tar(path: Path, names: tuple[str, ...], largest: int) -> dict[str, bytes]:
    """Return the files of a tar archive with these base names, in all at most `largest` bytes."""
    contents: dict[str, bytes] = {}
    with open_input(path) as file, damage_explained(path):
        archive = _Archive(path, file, 4 * largest + SLACK)
        left = largest
        while (entry := archive.next()) is not None:
            base = PurePosixPath(safe_name(entry.name, path)).name
            # Links and devices are not files, and are never followed.
            if not entry.is_file or base not in names:
                archive.skip(entry.blocks)
                continue
            if entry.size > left:
                raise DataError(
                    f"{entry.name} in {path} has {entry.size:,} bytes; at most {left:,} are "
                    "expected. Get the archive again."
                )
            left -= entry.size
            contents[base] = archive.take(entry.blocks)[: entry.size]
    return contents


@dataclass(frozen=True)
class _Entry:
    """An entry of an archive; its bytes follow."""

    name: str
    size: int
    is_file: bool

    @property
    def blocks(self) -> int:
        """The bytes that it takes, which are whole blocks."""
        return _whole_blocks(self.size)


def _whole_blocks(size: int) -> int:
    return -(-size // BLOCK) * BLOCK


class _Archive:
    """The bytes of an archive, unpacked and counted."""

    def __init__(self, path: Path, file: BinaryIO, most: int) -> None:
        self.path = path
        self.most = most
        self.unpacked = 0
        self.headers = 0
        self.entries = 0
        magic = file.read(2)
        file.seek(0)
        self._file: BinaryIO = file
        if magic == b"\x1f\x8b":
            self._file = gzip.GzipFile(fileobj=file)  # type: ignore[assignment]

    def take(self, size: int) -> bytes:
        """Return so many bytes."""
        self.unpacked += size
        if self.unpacked > self.most:
            raise DataError(
                f"{self.path} unpacks to more than {self.most:,} bytes, which is too much for the "
                "archive that its name says. Get it again."
            )
        content = self._file.read(size)
        if len(content) < size:
            raise EOFError("it is cut short")
        return content

    def skip(self, size: int) -> None:
        """Leave out so many bytes."""
        while size > 0:
            piece = min(size, PIECE)
            self.take(piece)
            size -= piece

    def next(self) -> _Entry | None:
        """Return the next entry, or None at the end."""
        long_name: str | None = None
        while True:
            header = self.take(BLOCK)
            if header == bytes(BLOCK):
                return None
            self._count()
            name, kind, size = _parse(header)
            if kind in (LONG_NAME, *ATTRIBUTES, COMMON_ATTRIBUTES, LONG_LINK):
                content = self._extended(size)
                if kind == LONG_NAME:
                    long_name = _text(content)
                elif kind in ATTRIBUTES:
                    long_name = _path_attribute(content) or long_name
                continue
            if kind == SPARSE:
                raise DataError(f"{self.path} has a sparse entry. Pack it without sparse files.")
            if kind in WITHOUT_DATA:
                size = 0
            name = long_name or name
            is_file = kind in REGULAR and not name.endswith("/")
            return _Entry(name, size, is_file)

    def _count(self) -> None:
        self.entries += 1
        if self.entries > MOST_ENTRIES:
            raise DataError(
                f"{self.path} has more than {MOST_ENTRIES:,} entries, which is too many for the "
                "archive that its name says. Get it again."
            )

    def _extended(self, size: int) -> bytes:
        """Return the content of a header with a long name or attributes."""
        self.headers += size
        if self.headers > LARGEST_HEADERS:
            raise DataError(
                f"{self.path} has long names and attributes of more than {LARGEST_HEADERS:,} "
                "bytes. Get it again."
            )
        return self.take(_whole_blocks(size))[:size]


def _parse(header: bytes) -> tuple[str, bytes, int]:
    """Return name, kind and size of an entry; refuse a header whose checksum is wrong."""
    # The checksum counts itself as eight spaces.
    expected = sum(header[:148]) + 8 * ord(" ") + sum(header[156:])
    if _number(header[148:156]) != expected:
        raise ValueError("the checksum of a header is wrong")
    name = _text(header[:100])
    prefix = _text(header[345:500])
    if header[257:263] == b"ustar\0" and prefix:
        name = f"{prefix}/{name}"
    return name, header[156:157], _number(header[124:136])


def _number(field: bytes) -> int:
    """Return a number of a header: octal digits, or binary if the first bit is set."""
    if field[0] == 0x80:
        return int.from_bytes(field[1:], "big")
    digits = field.strip(b" \0")
    if not re.fullmatch(rb"[0-7]*", digits):
        raise ValueError("a number in a header is damaged")
    return int(digits or b"0", 8)


def _text(field: bytes) -> str:
    return field.partition(b"\0")[0].decode("utf-8", "surrogateescape")


def _path_attribute(content: bytes) -> str | None:
    """Return the long name among the attributes of a file, which are records "LENGTH key=value"."""
    name = None
    position = 0
    while position < len(content):
        match = re.compile(rb"([0-9]{1,8}) ").match(content, position)
        if match is None or int(match[1]) <= len(match[0]):
            raise ValueError("the attributes of an entry are damaged")
        end = position + int(match[1])
        key, _, value = content[match.end() : end - 1].partition(b"=")
        if key == b"size" or key.startswith(b"GNU.sparse"):
            raise ValueError("an entry is sparse or has two sizes")
        if key == b"path":
            name = _text(value)
        position = end
    return name
