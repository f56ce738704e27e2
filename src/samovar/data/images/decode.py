"""From the bytes of an image file to one uint8 array. No file is trusted until it has been decoded.

Kind and size of a file are checked before it is read, and its number of pixels before it is
decoded. However many threads decode, together they hold no more pixels than the largest image has.
Whatever goes wrong is reported with the name of the file.
"""

import contextlib
import io
import os
import threading
from collections.abc import Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from PIL import Image, UnidentifiedImageError

from samovar.core.input_files import open_input
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
MOST_SCANS = 100
"""Passes over a JPEG, of which a photograph has about ten; a small file can ask for thousands."""
AT_ONCE = 32
"""Files that are held in memory together."""
BYTES_AT_ONCE = 128 * 2**20
"""Bytes of these files; a larger file is held alone."""
SMALL_FILE = 32_768
"""Files of fewer bytes on average are decoded faster by one thread than by several."""


def read_file(path: Path) -> bytes:
    """Return the bytes of an image file.

    Its kind and size are checked first, since devices and pipes have no end.
    """
    with open_input(path) as file:
        _check_size(os.fstat(file.fileno()).st_size, str(path))
        try:
            return file.read(LARGEST_FILE) or b""
        except OSError as error:
            raise DataError(f"{path} cannot be read: {error.strerror or error}.") from error


def decode(content: bytes, name: str, conversion: Conversion) -> NDArray[np.uint8]:
    """Decode the bytes of an image file to (H, W, C) uint8; `name` is for the error message."""
    _check_size(len(content), name)
    with opened_image(content, name) as image, decoding(image):
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
            if image.format == "JPEG":
                _check_scans(content, name)
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


class _PixelBudget:
    """Lets threads decode as long as their images together have no more pixels than allowed."""

    def __init__(self, most: int) -> None:
        self._free = most
        self._changed = threading.Condition()

    @contextlib.contextmanager
    def of(self, pixels: int) -> Iterator[None]:
        """Take so many pixels for the time of the block, after waiting until they are free."""
        with self._changed:
            self._changed.wait_for(lambda: pixels <= self._free)
            self._free -= pixels
        try:
            yield
        finally:
            with self._changed:
                self._free += pixels
                self._changed.notify_all()


_DECODING = _PixelBudget(MOST_PIXELS)


def decoding(image: Image.Image) -> contextlib.AbstractContextManager[None]:
    """Return the block in which an opened image may be decoded; it may have to wait for others."""
    return _DECODING.of(image.width * image.height)


def _check_scans(content: bytes, name: str) -> None:
    # Within compressed data a byte FF is never followed by DA, which starts a scan.
    scans = content.count(b"\xff\xda")
    if scans > MOST_SCANS:
        raise DataError(
            f"{name} is a JPEG with {scans:,} scans; at most {MOST_SCANS} are decoded. Save it "
            "anew, or remove it."
        )


def _unreadable(name: str, reason: str) -> DataError:
    return DataError(f"{name} is not an image that can be read ({reason}). Repair or remove it.")


def decode_all(files: Iterable[tuple[str, bytes]], conversion: Conversion) -> NDArray[np.uint8]:
    """Decode (name, bytes) pairs in order to (n, H, W, C), with few files in memory at once.

    All cores are used, unless the files are too small for that to pay.
    """

    def decode_one(file: tuple[str, bytes]) -> NDArray[np.uint8]:
        name, content = file
        return decode(content, name, conversion)

    arrays: list[NDArray[np.uint8]] = []
    # The pool starts its threads only when they are needed.
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        for batch in _batches(files):
            size = sum(len(content) for _, content in batch)
            if size < SMALL_FILE * len(batch):
                arrays += map(decode_one, batch)
            else:
                arrays += pool.map(decode_one, batch)
    return np.stack(arrays)


def _batches(files: Iterable[tuple[str, bytes]]) -> Iterator[list[tuple[str, bytes]]]:
    """Yield the files in lists of at most AT_ONCE files and about BYTES_AT_ONCE bytes."""
    batch: list[tuple[str, bytes]] = []
    size = 0
    for file in files:
        batch.append(file)
        size += len(file[1])
        if len(batch) == AT_ONCE or size > BYTES_AT_ONCE:
            yield batch
            batch = []
            size = 0
    if batch:
        yield batch
