"""From the bytes of an image file to one uint8 array. No file is trusted until it has been decoded.

Kind and size of a file are checked before it is read, and its number of pixels before it is
decoded. Whatever goes wrong is reported with the name of the file.
"""

import contextlib
import io
import itertools
import os
import stat
from collections.abc import Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from PIL import Image, UnidentifiedImageError

from samovar.data.images import heif
from samovar.data.images.conversion import Conversion, convert
from samovar.errors import DataError

EXTENSIONS = (".jpg", ".jpeg", ".png", ".webp", ".bmp", ".gif", ".tif", ".tiff", *heif.EXTENSIONS)
FORMATS = ("JPEG", "PNG", "WEBP", "BMP", "GIF", "TIFF")
"""The formats that Pillow may try; its other parsers never see a user's file."""
LARGEST_FILE = 256 * 2**20
"""Bytes; larger files are not read."""
MOST_PIXELS = 80_000_000
"""Larger images are refused before they are decoded: a few kilobytes can unpack to gigabytes."""
AT_ONCE = 32
"""Files that are held in memory together."""
SMALL_FILE = 32_768
"""Files of fewer bytes on average are decoded faster by one thread than by several."""


def read_file(path: Path) -> bytes:
    """Return the bytes of an image file.

    Its kind and size are checked first, since devices and pipes have no end.
    """
    try:
        state = path.stat()
        if not stat.S_ISREG(state.st_mode):
            raise DataError(f"{path} is not a file.")
        _check_size(state.st_size, str(path))
        return path.read_bytes()
    except OSError as error:
        raise DataError(f"{path} cannot be read: {error.strerror or error}.") from error


def decode(content: bytes, name: str, conversion: Conversion) -> NDArray[np.uint8]:
    """Decode the bytes of an image file to (H, W, C) uint8; `name` is for the error message."""
    _check_size(len(content), name)
    with opened_image(content, name) as image:
        image.load()
        return convert(image, conversion)


def shorter_side(path: Path) -> int:
    """Return the pixels of the shorter side of an image file without decoding it."""
    with opened_image(read_file(path), str(path)) as image:
        return min(image.size)


def _check_size(size: int, name: str) -> None:
    if size > LARGEST_FILE:
        raise DataError(
            f"{name} has {size:,} bytes, too many for an image. Make it smaller, or remove it."
        )


@contextlib.contextmanager
def opened_image(content: bytes, name: str) -> Iterator[Image.Image]:
    """Open an image that claims a sane size.

    Any failure, here or within the block, is reported with its name.
    """
    try:
        formats = heif.formats_of(content, name, FORMATS)
        with Image.open(io.BytesIO(content), formats=formats) as image:
            # Only the header has been read so far.
            if image.width * image.height > MOST_PIXELS:
                raise Image.DecompressionBombError
            yield image
    except DataError:  # it says what is wrong already
        raise
    except (Image.DecompressionBombError, Image.DecompressionBombWarning) as error:
        raise DataError(
            f"{name} has too many pixels to be decoded safely (more than "
            f"{MOST_PIXELS // 10**6} million). Make it smaller, or remove it."
        ) from error
    except UnidentifiedImageError as error:
        reason = f"its format is not one of {', '.join(FORMATS)}"
        if heif.is_heif(content):
            reason = "its HEIC content is damaged"
        raise _unreadable(name, reason) from error
    except Exception as error:  # Pillow's parsers raise many kinds of errors on damaged files
        raise _unreadable(name, str(error) or type(error).__name__) from error


def _unreadable(name: str, reason: str) -> DataError:
    return DataError(f"{name} is not an image that can be read ({reason}). Repair or remove it.")


def decode_all(files: Iterable[tuple[str, bytes]], conversion: Conversion) -> NDArray[np.uint8]:
    """Decode (name, bytes) pairs in order to (n, H, W, C), with at most AT_ONCE files in memory.

    All cores are used, unless the files are too small for that to pay.
    """

    def decode_one(file: tuple[str, bytes]) -> NDArray[np.uint8]:
        name, content = file
        return decode(content, name, conversion)

    arrays: list[NDArray[np.uint8]] = []
    remaining = iter(files)
    # The pool starts its threads only when they are needed.
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        while batch := list(itertools.islice(remaining, AT_ONCE)):
            size = sum(len(content) for _, content in batch)
            if size < SMALL_FILE * len(batch):
                arrays += map(decode_one, batch)
            else:
                arrays += pool.map(decode_one, batch)
    return np.stack(arrays)
