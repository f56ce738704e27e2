"""The reader of arrays in npz and npy files: nothing is unpickled, and sizes are looked at first.

A small file can claim, or be unpacked to, an array that fills the memory. So the header of each
array is compared with the bytes that are there before any of it is read.
"""

import math
import zipfile
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import numpy as np
from numpy.lib import format as npy_format
from numpy.typing import NDArray

from samovar.errors import UnreadableError
from samovar.settings.checked import shortened

FREE_BYTES = 100_000_000
"""An array may be this large, however well it is packed."""
MOST_EXPANSION = 50
"""Larger ones may be so many times larger than they are in the file. Vectors of networks, also
those with many zeros, are packed to a tenth at best."""
LARGEST_CODE_POINT = 0x10FFFF
SURROGATES = (0xD800, 0xDFFF)
"""Code points that stand for no character."""


def read_arrays(path: Path, names: Iterable[str]) -> dict[str, NDArray[Any]]:
    """Return those of the named arrays that an npz file has."""
    arrays = {}
    try:
        with path.open("rb") as file, zipfile.ZipFile(file) as archive:
            present = set(archive.namelist())
            for name in names:
                if f"{name}.npy" in present:
                    arrays[name] = _read_member(archive, archive.getinfo(f"{name}.npy"))
    except (OSError, UnreadableError):
        raise
    except Exception as error:  # zipfile and NumPy raise errors of many types on damaged files
        raise UnreadableError(shortened(str(error) or type(error).__name__)) from error
    return arrays


def _read_member(archive: zipfile.ZipFile, member: zipfile.ZipInfo) -> NDArray[Any]:
    name = member.filename.removesuffix(".npy")
    with archive.open(member) as file:
        shape, dtype = _read_header(file)
        size = math.prod(shape) * dtype.itemsize
        if size > member.file_size:
            raise UnreadableError(f"its array {name} claims to be larger than it is")
        if size > FREE_BYTES + MOST_EXPANSION * member.compress_size:
            raise UnreadableError(
                f"its array {name} would be unpacked from {member.compress_size:,} to "
                f"{size:,} bytes"
            )
    with archive.open(member) as file:
        array = npy_format.read_array(file, allow_pickle=False)
    check_text(array, name)
    return array


def _read_header(file: Any) -> tuple[tuple[int, ...], np.dtype[Any]]:
    """Return shape and type of the array that begins here."""
    version = npy_format.read_magic(file)
    if version == (1, 0):
        shape, _, dtype = npy_format.read_array_header_1_0(file)
    elif version == (2, 0):
        shape, _, dtype = npy_format.read_array_header_2_0(file)
    else:
        # Version 3 is for names of fields, which no array of ours has.
        raise UnreadableError(f"it is written in version {version} of NumPy's format")
    return shape, dtype


def map_array(path: Path) -> NDArray[Any]:
    """Return the array of an npy file; it stays on the disk until it is used."""
    try:
        array = np.load(path, mmap_mode="r", allow_pickle=False)
    except OSError:
        raise
    except Exception as error:  # NumPy's parser raises errors of many types on damaged files
        raise UnreadableError(shortened(str(error) or type(error).__name__)) from error
    if not isinstance(array, np.ndarray):
        raise UnreadableError(f"{path.name} is not an npy file")
    check_text(array, path.stem)
    return array


def check_text(array: NDArray[Any], name: str) -> None:
    """Refuse text with numbers in it that are not characters: Python cannot make strings of it."""
    if array.dtype.kind != "U" or not array.nbytes:
        return
    code = np.dtype(np.uint32).newbyteorder(array.dtype.byteorder)
    codes = np.ascontiguousarray(array).view(code)
    low, high = SURROGATES
    if ((codes > LARGEST_CODE_POINT) | ((codes >= low) & (codes <= high))).any():
        raise UnreadableError(f"the text in its array {name} has invalid characters")
