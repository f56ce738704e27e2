"""Reading official archives without unpacking them. Names and sizes inside are hostile until checked."""

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


def find(root: Path, name: str) -> Path | None:
    """The file or folder of this name: `root` itself, or at most two folders below it."""
    if root.name == name and root.exists():
        return root
    for pattern in (name, f"*/{name}", f"*/*/{name}"):
        for path in sorted(root.glob(pattern)):
            return path
    return None


def safe_name(name: str, archive: Path) -> str:
    """The name of an entry, refused if it points outside the archive."""
    path = PurePosixPath(name.replace("\\", "/"))
    if path.is_absolute() or ".." in path.parts or ":" in (path.parts or ("",))[0]:
        raise DataError(
            f"{archive} has an entry that points outside it ({name!r}). Get the archive from a safe place."
        )
    return str(path)


@contextlib.contextmanager
def _naming(archive: Path) -> Iterator[None]:
    try:
        yield
    except DAMAGED as error:
        raise DataError(
            f"{archive} is damaged or not what its name says ({error}). Get it again."
        ) from error


class Zip:
    """A zip archive whose entries are read by name, each checked before it is unpacked."""

    def __init__(self, path: Path) -> None:
        self.path = path
        with _naming(path):
            self._file = zipfile.ZipFile(path)
        self.entries = {
            safe_name(e.filename, path): e for e in self._file.infolist() if not e.is_dir()
        }

    def read(self, name: str) -> bytes:
        """The bytes of an entry."""
        entry = self.entries[name]
        if entry.file_size > LARGEST_FILE:
            raise DataError(
                f"{name} in {self.path} unpacks to {entry.file_size:,} bytes, too many. Remove it."
            )
        with _naming(self.path):
            return self._file.read(entry)


def read_tar(path: Path, names: tuple[str, ...], largest: int) -> dict[str, bytes]:
    """The entries of a tar archive with these base names, each at most `largest` bytes."""
    found: dict[str, bytes] = {}
    with _naming(path), tarfile.open(path) as archive:
        for member in archive:
            base = PurePosixPath(safe_name(member.name, path)).name
            if not member.isfile() or base not in names:
                continue
            if member.size > largest:
                raise DataError(
                    f"{member.name} in {path} has {member.size:,} bytes, too many. Get the archive again."
                )
            content = archive.extractfile(member)
            assert content is not None  # isfile() was true
            found[base] = content.read()
    return found
