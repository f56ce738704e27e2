"""Reading official archives without unpacking them; names and sizes inside are checked first."""

import contextlib
import lzma
import struct
import tarfile
import zipfile
import zlib
from collections.abc import Iterator
from pathlib import Path, PurePosixPath

from samovar.data.images.decode import LARGEST_FILE
from samovar.errors import DataError

DAMAGED = (
    zipfile.BadZipFile,
    tarfile.TarError,
    zlib.error,
    lzma.LZMAError,
    struct.error,
    EOFError,
    OSError,
    UnicodeDecodeError,
    NotImplementedError,
    RuntimeError,
)
"""What the standard library raises for damaged, encrypted or unknown archives."""


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
def _damage_explained(archive: Path) -> Iterator[None]:
    """Turn whatever a damaged archive raises into an error that names it."""
    try:
        yield
    except DAMAGED as error:
        raise DataError(
            f"{archive} is damaged or not of the type that its name says ({error}). Get it again."
        ) from error


class Zip:
    """A zip archive whose entries are read by name, each checked before it is unpacked."""

    def __init__(self, path: Path) -> None:
        self.path = path
        with _damage_explained(path):
            self._file = zipfile.ZipFile(path)
        # Every name is checked now, before anything is read.
        self.entries: dict[str, zipfile.ZipInfo] = {}
        for entry in self._file.infolist():
            if not entry.is_dir():
                self.entries[safe_name(entry.filename, path)] = entry

    def read(self, name: str) -> bytes:
        """Return the bytes of an entry."""
        entry = self.entries[name]
        # zipfile unpacks no more than this size, whatever the compressed data would give.
        if entry.file_size > LARGEST_FILE:
            raise DataError(
                f"{name} in {self.path} unpacks to {entry.file_size:,} bytes; at most "
                f"{LARGEST_FILE:,} are allowed. Remove it from the archive."
            )
        with _damage_explained(self.path):
            return self._file.read(entry)


def read_tar(path: Path, names: tuple[str, ...], largest: int) -> dict[str, bytes]:
    """Return the entries of a tar archive with these base names, each at most `largest` bytes."""
    contents: dict[str, bytes] = {}
    with _damage_explained(path), tarfile.open(path) as archive:
        for member in archive:
            base = PurePosixPath(safe_name(member.name, path)).name
            # Links and devices are not files, and are never followed.
            if not member.isfile() or base not in names:
                continue
            if member.size > largest:
                raise DataError(
                    f"{member.name} in {path} has {member.size:,} bytes; at most {largest:,} are "
                    "expected. Get the archive again."
                )
            file = archive.extractfile(member)
            assert file is not None  # isfile() was true
            contents[base] = file.read()
    return contents
