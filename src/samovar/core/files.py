"""Files are written whole or not at all, and what killed processes left behind is removed.

A file is written beside its target under a hidden name and then renamed. Its writer holds a lock on
it, which ends with the process: a temporary file without one was left by a process that was killed,
and the next writer of the same target removes it.
"""

import contextlib
import ctypes
import errno
import os
import re
import secrets
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO

from samovar.core.input_files import open_input
from samovar.errors import DataError, OutputError

try:
    import fcntl
except ImportError:  # Windows, where leftovers stay
    fcntl = None  # type: ignore[assignment]

TEMPORARY = re.compile(r"\.(?P<target>.+)\.[0-9a-f]{4,8}")
"""The name of a temporary file, which begins with that of its target."""
HERE = -100
"""Stands for the working folder in calls of Linux that take a folder and a path."""
EXCHANGE = 2
"""Asks Linux's renameat2 to let two paths swap what they name."""
KEEP = 1
"""Asks Linux's renameat2 to fail if the new path names something already."""
NOT_THERE = (errno.ENOSYS, errno.EINVAL, errno.ENOTSUP)
"""What renameat2 answers where the system or the file system does not have it."""


def output_folder(path: Path) -> Path:
    """Make the folder and check that it can be written to, before any long work is done for it."""
    try:
        path.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=path):
            return path
    except (OSError, ValueError) as error:  # ValueError: a name with a null character
        reason = getattr(error, "strerror", None) or error
        raise OutputError(f"Cannot write into {path}: {reason}. Choose another folder.") from error


def write_whole(path: Path, content: bytes) -> None:
    """Write a file so that readers see either the old content or the new, never half of it."""
    with whole_file(path) as file:
        file.write(content)


@contextlib.contextmanager
def whole_file(path: Path, *, replace: bool = True) -> Iterator[BinaryIO]:
    """Open a file for writing that replaces `path` when the block ends without an error.

    The content goes to a temporary file beside the target, is flushed to the disk, and renamed.
    Without `replace`, FileExistsError is raised if something is there already.
    """
    temporary: Path | None = None
    try:
        _check_replaceable(path)
        remove_leftovers(path.parent, path.name)
        temporary, file = _new_temporary(path)
        with file:
            yield file
            file.flush()
            os.fsync(file.fileno())
            if replace:
                temporary.replace(path)
            else:
                rename_new(temporary, path)
    except (OutputError, FileExistsError):  # they say what is wrong already
        _remove(temporary)
        raise
    except OSError as error:
        _remove(temporary)
        raise OutputError(
            f"Cannot write {path}: {error.strerror or error}. The file was left as it was."
        ) from error
    except BaseException:  # an interrupt leaves no temporary file behind either
        _remove(temporary)
        raise


def _check_replaceable(path: Path) -> None:
    """Refuse to put a file in the place of a device or a pipe, such as /dev/null or /dev/stdout.

    Whoever may write to the folder of devices, as root may, would destroy them for everybody.
    """
    if "\0" in str(path):
        raise OutputError(f"Cannot write {path}: its name has a null character.")
    is_device = path.exists() and not path.is_file() and not path.is_dir()
    # /dev/stdout must stay, even where output is redirected and it leads to a file.
    is_stream = path.is_symlink() and path.readlink().is_relative_to("/proc")
    if is_device or is_stream:
        raise OutputError(f"Cannot write {path}: it is a device or a pipe. Name a file instead.")


def remove_leftovers(folder: Path, target: str | None = None) -> None:
    """Remove the temporary files of killed processes, all or those of one target."""
    if fcntl is None:
        return
    with contextlib.suppress(OSError):
        for name in os.listdir(folder):  # noqa: PTH208 - names are all that is needed
            match = TEMPORARY.fullmatch(name)
            if match is not None and target in (None, match["target"]):
                _remove_unlocked(folder / name)


def _remove_unlocked(path: Path) -> None:
    """Remove a temporary file unless a living process is writing it."""
    # open_input, since a pipe of such a name would wait for ever.
    with contextlib.suppress(OSError, DataError), open_input(path) as file:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        path.unlink()


def _new_temporary(path: Path) -> tuple[Path, BinaryIO]:
    """Return a new file beside the target, locked by this process, and its path."""
    while True:
        # In the same folder, because a rename is atomic only within one file system.
        temporary = path.parent / f".{path.name}.{secrets.token_hex(4)}"
        file = temporary.open("xb")
        if _locked(file):
            return temporary, file
        file.close()


def _locked(file: BinaryIO) -> bool:
    """Lock a new file; return False if another process took it for a leftover before that."""
    if fcntl is None:
        return True
    with contextlib.suppress(OSError):  # file systems without locks have no leftovers removed
        fcntl.flock(file, fcntl.LOCK_EX)
    return os.fstat(file.fileno()).st_nlink > 0


def _remove(path: Path | None) -> None:
    if path is not None:
        with contextlib.suppress(OSError):
            path.unlink(missing_ok=True)


def exchange(first: Path, second: Path) -> bool:
    """Let two files or folders swap places in one step; return False where that is not possible.

    It is possible on Linux, on most file systems.
    """
    return _renameat2(first, second, EXCHANGE) == 0


def rename_new(source: Path, target: Path) -> None:
    """Give a file a new place; raise FileExistsError if something is there, and replace nothing.

    Where Linux cannot do it in one step, the file has both names for a moment.
    """
    error = _renameat2(source, target, KEEP)
    if error in NOT_THERE:
        os.link(source, target, follow_symlinks=False)
        os.unlink(source)  # noqa: PTH108 - beside os.link
    elif error:
        raise OSError(error, os.strerror(error), str(source), None, str(target))


def _renameat2(first: Path, second: Path, flag: int) -> int:
    """Rename by Linux's own call; return 0, or the number of the error."""
    try:
        rename = ctypes.CDLL(None, use_errno=True).renameat2
    except (AttributeError, OSError, TypeError):  # another system, or an old C library
        return errno.ENOSYS
    if rename(HERE, os.fsencode(first), HERE, os.fsencode(second), flag) == 0:
        return 0
    return ctypes.get_errno()
