"""One image file, whoever made it, to one uint8 array. Files are hostile until they have been decoded."""

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

from samovar.data.images.conversion import Conversion, convert
from samovar.errors import DataError

EXTENSIONS = (".jpg", ".jpeg", ".png", ".webp", ".bmp", ".gif", ".tif", ".tiff")
FORMATS = ("JPEG", "PNG", "WEBP", "BMP", "GIF", "TIFF")
LARGEST_FILE = 256 * 2**20
MOST_PIXELS = 80_000_000
"""Larger images are refused before they are decoded: a few kilobytes can unpack to gigabytes."""
AT_ONCE = 32
"""Files that are held in memory together."""


def read_file(path: Path) -> bytes:
    """The bytes of an image file, whose kind and size are looked at first: devices and pipes have no end."""
    try:
        found = path.stat()
        if not stat.S_ISREG(found.st_mode):
            raise DataError(f"{path} is not a file.")
        _check_bytes(found.st_size, str(path))
        return path.read_bytes()
    except OSError as error:
        raise DataError(f"{path} cannot be read: {error.strerror or error}.") from error


def decode(content: bytes, name: str, conversion: Conversion) -> NDArray[np.uint8]:
    """Decode the bytes of an image file to (H, W, C) uint8; `name` is for the error message."""
    _check_bytes(len(content), name)
    with _opened(content, name) as image:
        image.load()
        return convert(image, conversion)


def shorter_side(path: Path) -> int:
    """Pixels of the shorter side of an image file, which is not decoded."""
    with _opened(read_file(path), str(path)) as image:
        return min(image.size)


def _check_bytes(size: int, name: str) -> None:
    if size > LARGEST_FILE:
        raise DataError(
            f"{name} has {size:,} bytes, too many for an image. Make it smaller, or remove it."
        )


@contextlib.contextmanager
def _opened(content: bytes, name: str) -> Iterator[Image.Image]:
    """An image that claims a sane size; whatever goes wrong with it, then or within the block, is said of its name."""
    try:
        with Image.open(io.BytesIO(content), formats=FORMATS) as image:
            if image.width * image.height > MOST_PIXELS:
                raise Image.DecompressionBombError
            yield image
    except (Image.DecompressionBombError, Image.DecompressionBombWarning) as error:
        raise DataError(
            f"{name} claims too many pixels to decode safely. Make it smaller, or remove it."
        ) from error
    except Exception as error:  # damaged files make Pillow raise whatever its parsers stumble over
        unknown = isinstance(error, UnidentifiedImageError)
        reason = (
            f"its kind is none of {', '.join(FORMATS)}"
            if unknown
            else str(error) or type(error).__name__
        )
        raise DataError(
            f"{name} is not an image that can be read ({reason}). Mend it, or remove it."
        ) from error


def decode_all(files: Iterable[tuple[str, bytes]], conversion: Conversion) -> NDArray[np.uint8]:
    """Decode (name, bytes) pairs in order to (n, H, W, C), a few at a time, so that few files are in memory at once.

    On all cores, unless they are too small for that to pay.
    """
    arrays: list[NDArray[np.uint8]] = []
    remaining = iter(files)
    with ThreadPoolExecutor(os.cpu_count()) as pool:  # its threads are started when they are needed
        while some := list(itertools.islice(remaining, AT_ONCE)):
            small = sum(len(content) for _, content in some) < 32_768 * len(some)
            arrays += (map if small else pool.map)(
                lambda file: decode(file[1], file[0], conversion), some
            )
    return np.stack(arrays)
