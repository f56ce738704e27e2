"""Arrays of npz files, read within limits: a small file can claim arrays of any size.

The claims of an array's header are compared with the bytes that the archive has for it before any
memory is taken. Nothing is unpickled.
"""

import contextlib
import math
import sys
from pathlib import Path
from typing import IO, Any

import numpy as np
from numpy.lib import format as npy_format
from numpy.typing import NDArray

from samovar.data.archive import Zip, damage_explained
from samovar.errors import DataError

PIECE = 2**20
"""Bytes that are read at once."""


def read_npz(path: Path, names: tuple[str, ...]) -> dict[str, NDArray[Any]]:
    """Return those of the named arrays that an npz file has; a damaged file is a DataError."""
    with contextlib.closing(Zip(path)) as archive, damage_explained(path):
        arrays = {}
        for name in names:
            entry = archive.entries.get(f"{name}.npy")
            if entry is not None:
                with archive.open(f"{name}.npy") as file:
                    arrays[name] = _read_array(file, entry.file_size, name)
        return arrays


def _read_array(file: IO[bytes], size: int, name: str) -> NDArray[Any]:
    shape, fortran_order, dtype = _header(file, name)
    left = size - file.tell()
    # Without a size an element would be free, and an array of any length.
    if dtype.hasobject or dtype.itemsize == 0 or dtype.subdtype is not None:
        raise ValueError(f"the array {name} has elements of the type {dtype}")
    if min(shape, default=0) < 0 or math.prod(shape) * dtype.itemsize != left:
        raise ValueError(f"the array {name} claims the shape {shape} but has {left:,} bytes")
    array = np.empty(math.prod(shape), dtype)
    target = array.view(np.uint8)
    for start in range(0, left, PIECE):
        piece = file.read(min(PIECE, left - start))
        target[start : start + PIECE] = np.frombuffer(piece, np.uint8)
    if not is_text(array):
        raise ValueError(f"the array {name} has numbers that stand for no character")
    return array.reshape(shape, order="F" if fortran_order else "C")


def is_text(array: NDArray[Any]) -> bool:
    """Tell whether an array holds no text, or text in which every number is a character's.

    NumPy stores any number where a character should be, and Python's strings must not have it.
    """
    # Texts may all be empty, and so have no characters to look at.
    if array.dtype.kind != "U" or not array.nbytes:
        return True
    number = np.dtype("u4").newbyteorder(array.dtype.byteorder)
    return int(np.ascontiguousarray(array).view(number).max()) <= sys.maxunicode


def _header(file: IO[bytes], name: str) -> tuple[tuple[int, ...], bool, np.dtype[Any]]:
    version = npy_format.read_magic(file)
    if version == (1, 0):
        return npy_format.read_array_header_1_0(file)
    if version == (2, 0):
        return npy_format.read_array_header_2_0(file)
    raise DataError(f"The array {name} has the format {version}, which is not read.")
