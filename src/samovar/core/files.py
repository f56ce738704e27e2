"""Files are written whole or not at all."""

import contextlib
import os
import secrets
import tempfile
from pathlib import Path

from samovar.errors import OutputError


def output_folder(path: Path) -> Path:
    """Make the folder and check that it can be written to, before any long work is done for it."""
    try:
        path.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=path):
            return path
    except OSError as error:
        raise OutputError(
            f"Cannot write into {path}: {error.strerror or error}. Choose another folder."
        ) from error


def write_whole(path: Path, content: bytes) -> None:
    """Write a file so that readers see either the old content or the new, never half of it.

    The content goes to a temporary file beside the target, is flushed to the disk, and renamed.
    """
    # In the same folder, because a rename is atomic only within one file system.
    temporary = path.parent / f".{path.name}.{secrets.token_hex(4)}"
    try:
        with temporary.open("xb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        temporary.replace(path)
    except OSError as error:
        _remove(temporary)
        raise OutputError(
            f"Cannot write {path}: {error.strerror or error}. The file was left as it was."
        ) from error
    except BaseException:  # an interrupt leaves no temporary file behind either
        _remove(temporary)
        raise


def _remove(path: Path) -> None:
    with contextlib.suppress(OSError):
        path.unlink(missing_ok=True)
