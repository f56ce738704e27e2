"""Reading zip archives without unpacking them; names and sizes inside are checked first.

Nothing that an archive claims is believed: the bytes of its directory, the number of its entries
and what they unpack to all have limits, and no entry unpacks to more than its directory says.
"""

import contextlib
import io
import os
import weakref
import zipfile
from collections.abc import Iterator
from pathlib import Path, PurePosixPath
from typing import IO

from samovar.core.input_files import open_input
from samovar.data.images.decode import LARGEST_FILE
from samovar.errors import DataError

MOST_ENTRIES = 1_000_000
LARGEST_DIRECTORY = 128 * 2**20
"""Bytes of the directory, which has the names of all entries and is held in memory."""
LARGEST_RATIO = 100
"""How many times its own size an archive may unpack to, beyond `LARGEST_FILE`.

Images and vectors hardly become smaller in an archive; what does is there to do harm.
"""
METHODS = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)
"""Only these can be unpacked piece by piece: others expand a kilobyte to gigabytes at once."""


class LargeArchiveError(DataError):
    """An archive has more in it than is allowed."""


def find(root: Path, name: str) -> Path | None:
    """Return the file or folder of this name: `root` itself, or at most two folders below it."""
    if root.name == name and root.exists():
        return root
    for pattern in (name, f"*/{name}", f"*/*/{name}"):
        paths = sorted(root.glob(pattern))
        if paths:
            return paths[0]
    return None


def safe_name(name: str, archive: Path) -> str:
    """Return the name of an entry with forward slashes; refuse one that points outside."""
    path = PurePosixPath(name.replace("\\", "/"))
    drive = bool(path.parts) and ":" in path.parts[0]  # C:/Windows
    if path.is_absolute() or ".." in path.parts or drive:
        raise DataError(
            f"{archive} has an entry that points outside it ({name!r}). Get the archive from a "
            "trustworthy place."
        )
    return str(path)


@contextlib.contextmanager
def damage_explained(archive: Path) -> Iterator[None]:
    """Turn whatever a damaged archive raises into an error that names it."""
    try:
        yield
    except DataError:  # it says what is wrong already
        raise
    except Exception as error:  # parsers of archives raise many kinds of errors
        reason = str(error) or type(error).__name__
        raise DataError(
            f"{archive} is damaged or not of the type that its name says ({reason}). Get it again."
        ) from error


class _Bounded(io.BufferedReader):
    """A file of which no more is read at once than the largest directory has.

    `zipfile` reads the directory in one piece, before anything can be known of it.
    """

    def __init__(self, archive: Path, largest: int) -> None:
        super().__init__(open_input(archive).detach())
        self.archive = archive
        self.largest = largest

    def read(self, size: int | None = -1, /) -> bytes:
        """Return so many bytes, or those that are left."""
        if size is None or size < 0 or size > self.largest:
            left = os.fstat(self.fileno()).st_size - self.tell()
            size = left if size is None or size < 0 else min(size, left)
        if size > self.largest:
            raise LargeArchiveError(
                f"{self.archive} has too many entries: its directory has more than "
                f"{self.largest:,} bytes. Divide it."
            )
        return super().read(size)


class Zip:
    """A zip archive whose entries are read by name, each checked before it is unpacked.

    Whoever takes archives from strangers allows fewer entries and a smaller directory.
    """

    def __init__(
        self,
        path: Path,
        most_entries: int = MOST_ENTRIES,
        largest_directory: int = LARGEST_DIRECTORY,
    ) -> None:
        self.path = path
        self.most_entries = most_entries
        file = _Bounded(path, largest_directory)
        # The archive stays open as long as its entries may be read.
        self.close = weakref.finalize(self, file.close)
        with damage_explained(path):
            self._file = zipfile.ZipFile(file)
        file.largest = LARGEST_FILE  # from now on entries are read, which may be larger
        # Every name is checked now, before anything is read.
        self.entries: dict[str, zipfile.ZipInfo] = {}
        for entry in self._file.infolist():
            if not entry.filename.endswith("/"):
                self.entries[safe_name(entry.filename, path)] = entry
        self._check(path.stat().st_size)

    def _check(self, size: int) -> None:
        """Refuse an archive that has too many entries or unpacks to too much."""
        if len(self._file.infolist()) > self.most_entries:
            raise LargeArchiveError(
                f"{self.path} has more than {self.most_entries:,} entries. Divide it."
            )
        unpacked = sum(entry.file_size for entry in self._file.infolist())
        most = LARGEST_RATIO * size + LARGEST_FILE
        if unpacked > most:
            raise LargeArchiveError(
                f"{self.path} has {size:,} bytes and unpacks to {unpacked:,}; at most {most:,} are "
                "allowed. Get the archive from a trustworthy place."
            )

    def read(self, name: str) -> bytes:
        """Return the bytes of an entry, which is a small file such as an image."""
        entry = self.entries[name]
        if entry.file_size > LARGEST_FILE:
            raise DataError(
                f"{name} in {self.path} unpacks to {entry.file_size:,} bytes; at most "
                f"{LARGEST_FILE:,} are allowed. Remove it from the archive."
            )
        with self.open(name) as file:
            # With a number of bytes, zipfile unpacks no more than that.
            content = file.read(entry.file_size)
            if len(content) < entry.file_size:
                raise EOFError(f"{name} is cut short")
            return content

    @contextlib.contextmanager
    def open(self, name: str) -> Iterator[IO[bytes]]:
        """Open an entry for reading; whatever is wrong with it is reported with its archive."""
        entry = self.entries[name]
        with damage_explained(self.path):
            if entry.compress_type not in METHODS:
                raise ValueError(f"{name} is not compressed by deflate")
            with self._file.open(entry) as file:
                yield file
