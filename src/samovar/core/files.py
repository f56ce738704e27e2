"""Files are written whole or not at all."""

import contextlib
import os
import secrets
import tempfile
from pathlib import Path

from samovar.errors import OutputError


def output_folder(path: Path) -> Path:
    """Make the folder and prove that it can be written to, before any long work is begun for it."""
    try:
        path.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=path):
            return path
    except OSError as error:
        raise OutputError(
            f"Cannot write into {path}: {error.strerror or error}. Choose another folder."
        ) from error


def write_whole(path: Path, content: bytes) -> None:
    """Write beside the target, flush to the disk, rename: whoever reads sees the old file or the new one."""
    temporary = path.parent / f".{path.name}.{secrets.token_hex(4)}"
    try:
        with temporary.open("xb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        temporary.replace(path)
    except BaseException as error:
        with contextlib.suppress(OSError):
            temporary.unlink(missing_ok=True)
        if not isinstance(error, OSError):
            raise
        raise OutputError(
            f"Cannot write {path}: {error.strerror or error}. Nothing was left half-written."
        ) from error
