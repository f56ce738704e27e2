"""Reading files that others have written: regular files only, and no more bytes than agreed."""

import io
import os
import stat
from pathlib import Path

from samovar.errors import DataError


def open_input(path: Path) -> io.BufferedReader:
    """Open a file for reading; refuse pipes, devices and folders, which may have no end."""
    try:
        # Some devices act when they are opened, so they are refused before that.
        _check_regular(path.stat(), path)
        # The file may have been replaced by a pipe meanwhile, which would wait for a writer.
        flags = os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0)
        file = os.fdopen(os.open(path, flags), "rb")
        try:
            _check_regular(os.fstat(file.fileno()), path)
        except DataError:
            file.close()
            raise
        return file
    except OSError as error:
        raise DataError(f"{path} cannot be read: {error.strerror or error}.") from error
    except ValueError as error:  # a name with a null character
        if isinstance(error, DataError):
            raise
        raise DataError(f"{path} cannot be read: {error}.") from error


def read_input(path: Path, most: int) -> bytes:
    """Return the bytes of a regular file that has at most so many."""
    with open_input(path) as file:
        check_size(os.fstat(file.fileno()).st_size, most, path)
        try:
            content = file.read(most + 1) or b""
        except OSError as error:
            raise DataError(f"{path} cannot be read: {error.strerror or error}.") from error
    check_size(len(content), most, path)  # it may have grown
    return content


def check_size(size: int, most: int, path: Path) -> None:
    """Refuse a file with more bytes than are read."""
    if size > most:
        raise DataError(f"{path} has {size:,} bytes; at most {most:,} are read.")


def _check_regular(state: os.stat_result, path: Path) -> None:
    if not stat.S_ISREG(state.st_mode):
        raise DataError(f"{path} is not a file.")
