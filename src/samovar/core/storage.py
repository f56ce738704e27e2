"""Results at an address: a path, or anything that fsspec reaches, such as s3://bucket/vectors.npz.

All work is done on local files. What belongs at an address elsewhere is fetched first, and sent
there when the work is done: a file at a time, each whole. (fsspec is installed with torch; the file
systems of clouds are packages of their own, such as s3fs and gcsfs.)
"""

import re
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path, PurePosixPath
from typing import Any

from samovar.errors import DataError, OutputError, SettingsError

ADDRESS = re.compile(r"(?P<protocol>[a-z][a-z0-9+.-]+):/+(?P<rest>.*)", re.DOTALL)
"""An address, also after `Path` has made one slash of two. A drive of Windows has one letter."""


def address_of(path: Path) -> str | None:
    """Return the address that a path stands for; None if it is a path of this machine.

    >>> address_of(Path("s3://bucket/vectors.npz"))
    's3://bucket/vectors.npz'
    >>> address_of(Path("vectors.npz")) is None
    True
    """
    match = ADDRESS.fullmatch(path.as_posix())
    if match is None:
        return None
    protocol = match["protocol"]
    # The address of a local file has no host between the second slash and the third.
    slashes = ":///" if protocol in ("file", "local") else "://"
    return f"{protocol}{slashes}{match['rest']}"


def shown(path: Path) -> str:
    """Return a path or an address as people write it."""
    return address_of(path) or str(path)


def absolute(path: Path) -> str:
    """Return a path or an address so that it means the same in another process."""
    return address_of(path) or str(path.absolute())


@contextmanager
def local_file(path: Path) -> Iterator[Path]:
    """Yield the local file that stands for a file at an address, or the path itself.

    It holds what is there already. If it has been written when the block ends without an error, it
    replaces the one at the address.
    """
    address = address_of(path)
    if address is None:
        yield path
        return
    filesystem, place = _connect(address)
    with tempfile.TemporaryDirectory(prefix="samovar-") as folder:
        file = Path(folder) / PurePosixPath(place).name
        if _exists(filesystem, place):
            _fetch(filesystem, place, file)
        before = _state(file)
        yield file
        if file.exists() and _state(file) != before:
            _send(filesystem, file, place)


@contextmanager
def local_folder(path: Path, only: str = "") -> Iterator[Path]:
    """Yield the local folder that stands for a folder at an address, or the path itself.

    It holds what is there already, or only what is in one folder inside. Files that have been
    written when the block ends without an error are sent there.
    """
    address = address_of(path)
    if address is None:
        yield path
        return
    filesystem, place = _connect(address)
    with tempfile.TemporaryDirectory(prefix="samovar-") as temporary:
        folder = Path(temporary) / "results"
        folder.mkdir()
        for name in _names(filesystem, place, only):
            _fetch(filesystem, f"{place}/{name}", folder / name)
        before = {file: _state(file) for file in _files(folder)}
        yield folder
        # In the order in which they were written, so that a file that says that all is done comes
        # after what it speaks of.
        files = sorted(_files(folder), key=lambda file: file.stat().st_mtime_ns)
        for file in files:
            if _state(file) != before.get(file):
                _send(filesystem, file, _place_of(file, folder, place))
        for file in before.keys() - set(files):  # they have been moved, or removed
            filesystem.rm(_place_of(file, folder, place))


def _place_of(file: Path, folder: Path, place: str) -> str:
    return f"{place}/{file.relative_to(folder).as_posix()}"


def remove(path: Path) -> None:
    """Remove a folder and all that is in it, here or at an address, if it is there."""
    address = address_of(path)
    if address is None:
        shutil.rmtree(path, ignore_errors=True)
        return
    filesystem, place = _connect(address)
    if _exists(filesystem, place):
        filesystem.rm(place, recursive=True)


def _connect(address: str) -> tuple[Any, str]:
    """Return the file system of an address, and the path on it."""
    from fsspec.core import url_to_fs

    try:
        filesystem, place = url_to_fs(address)
    except (ImportError, ValueError) as error:
        raise SettingsError(f"The address {address} cannot be reached: {error}.") from error
    return filesystem, place.rstrip("/")


def _exists(filesystem: Any, place: str) -> bool:
    # What was listed before may have changed since.
    filesystem.invalidate_cache()
    return bool(filesystem.exists(place))


def _names(filesystem: Any, place: str, only: str) -> list[str]:
    """Return the names of all files of a folder, relative to it; those of hostile names are left.

    A store of objects may hold names such as ../x, which would lead out of our folder.
    """
    root = f"{place}/{only}".rstrip("/")
    if not _exists(filesystem, root):
        return []
    names = []
    for found in filesystem.find(root):
        name = found.removeprefix(f"{place}/")
        parts = PurePosixPath(name).parts
        if ".." not in parts and not PurePosixPath(name).is_absolute():
            names.append(name)
    return names


def _fetch(filesystem: Any, place: str, file: Path) -> None:
    file.parent.mkdir(parents=True, exist_ok=True)
    try:
        with filesystem.open(place, "rb") as source, file.open("wb") as target:
            shutil.copyfileobj(source, target)
    except OSError as error:
        raise DataError(f"{place} cannot be fetched: {error}.") from error


def _send(filesystem: Any, file: Path, place: str) -> None:
    """Put a file into its place; within a transaction it appears there whole."""
    try:
        filesystem.makedirs(filesystem._parent(place), exist_ok=True)
        with (
            filesystem.transaction,
            file.open("rb") as source,
            filesystem.open(place, "wb") as target,
        ):
            shutil.copyfileobj(source, target)
    except OSError as error:
        raise OutputError(f"{place} cannot be written: {error}.") from error


def _files(folder: Path) -> list[Path]:
    return [path for path in sorted(folder.rglob("*")) if path.is_file()]


def _state(file: Path) -> tuple[int, int, int] | None:
    """Return what changes when a file is written; None if there is none."""
    if not file.exists():
        return None
    facts = file.stat()
    return facts.st_ino, facts.st_mtime_ns, facts.st_size
