"""One image file, whoever made it, to one uint8 array. Files are hostile until they have been decoded."""

import contextlib
import io
import itertools
import os
import stat
from collections.abc import Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

import numpy as np
from numpy.typing import NDArray
from PIL import Image, UnidentifiedImageError

from samovar.errors import DataError

EXTENSIONS = (".jpg", ".jpeg", ".png", ".webp", ".bmp", ".gif", ".tif", ".tiff")
FORMATS = ("JPEG", "PNG", "WEBP", "BMP", "GIF", "TIFF")
LARGEST_FILE = 256 * 2**20
MOST_PIXELS = 80_000_000
"""Larger images are refused before they are decoded: a few kilobytes can unpack to gigabytes."""
ORIENTATION = 0x0112
"""The EXIF tag; its values 2 to 8 are undone by these."""
UPRIGHT = {
    2: Image.Transpose.FLIP_LEFT_RIGHT,
    3: Image.Transpose.ROTATE_180,
    4: Image.Transpose.FLIP_TOP_BOTTOM,
    5: Image.Transpose.TRANSPOSE,
    6: Image.Transpose.ROTATE_270,
    7: Image.Transpose.TRANSVERSE,
    8: Image.Transpose.ROTATE_90,
}
AT_ONCE = 32
"""Files that are held in memory together."""


@dataclass(frozen=True)
class Conversion:
    """How images become arrays of one shape; a model remembers the one it was trained with."""

    size: int
    """Height and width in pixels, after a central square crop."""
    colour: Literal["rgb", "grey"] = "rgb"
    resampling: Literal["bilinear", "lanczos"] = "bilinear"
    inverted: bool = False
    """Dark ink on white paper becomes bright ink on black."""

    @property
    def shape(self) -> tuple[int, int, int]:
        """Height, width, channels."""
        return self.size, self.size, 3 if self.colour == "rgb" else 1


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
        raise DataError(f"{name} has {size:,} bytes, too many for an image. Make it smaller, or remove it.")


@contextlib.contextmanager
def _opened(content: bytes, name: str) -> Iterator[Image.Image]:
    """An image that claims a sane size; whatever goes wrong with it, then or within the block, is said of its name."""
    try:
        with Image.open(io.BytesIO(content), formats=FORMATS) as image:
            if image.width * image.height > MOST_PIXELS:
                raise Image.DecompressionBombError
            yield image
    except (Image.DecompressionBombError, Image.DecompressionBombWarning) as error:
        raise DataError(f"{name} claims too many pixels to decode safely. Make it smaller, or remove it.") from error
    except Exception as error:  # damaged files make Pillow raise whatever its parsers stumble over
        unknown = isinstance(error, UnidentifiedImageError)
        reason = f"its kind is none of {', '.join(FORMATS)}" if unknown else str(error) or type(error).__name__
        raise DataError(f"{name} is not an image that can be read ({reason}). Mend it, or remove it.") from error


def convert(image: Image.Image, conversion: Conversion) -> NDArray[np.uint8]:
    """A decoded image of any mode and size to (H, W, C) uint8: upright, on white, cropped, resized."""
    turn = _turn(image)
    upright = _to_eight_bits(image)
    upright = upright if turn is None else upright.transpose(turn)
    if upright.has_transparency_data:
        upright = upright.convert("RGBA")
        upright = Image.alpha_composite(Image.new("RGBA", upright.size, "white"), upright)
    coloured = upright.convert("RGB" if conversion.colour == "rgb" else "L")
    resampling = Image.Resampling[conversion.resampling.upper()]
    side = min(coloured.size)
    if coloured.size != (side, side):
        left, top = (coloured.width - side) // 2, (coloured.height - side) // 2
        coloured = coloured.crop((left, top, left + side, top + side))
    if side != conversion.size:
        coloured = coloured.resize((conversion.size, conversion.size), resampling)
    array = np.asarray(coloured, dtype=np.uint8).reshape(conversion.shape)
    return 255 - array if conversion.inverted else array


def _turn(image: Image.Image) -> Image.Transpose | None:
    """How to set it upright. Nothing else of the EXIF block is needed, and odd entries in it are common."""
    try:
        return UPRIGHT.get(int(image.getexif().get(ORIENTATION, 1)))
    except Exception:  # a block that cannot be parsed: the picture itself may well be sound
        return None


def _to_eight_bits(image: Image.Image) -> Image.Image:
    """Grey images of 16 or 32 bits, scaled; Pillow's own conversion would clip them.

    White is the highest value of 16 bits where the mode says so, else the first of 1 (floats), 8, 16 and 32 bits that
    holds all values.
    """
    if not image.mode.startswith(("I", "F")):
        return image
    values = np.asarray(image).astype(np.float64)
    if not np.isfinite(values).all():
        raise ValueError("its pixels are not all finite numbers")
    known, top = image.mode.startswith("I;16"), values.max(initial=0.0)
    scales = (2.0**16 - 1,) if known else (1.0 if image.mode == "F" else 255.0, 255.0, 2.0**16 - 1, 2.0**32 - 1)
    full_scale = next((each for each in scales if top <= each), top)
    scaled = (values.clip(0, full_scale) * (255 / full_scale)).round().astype(np.uint8)
    eight_bits = Image.fromarray(scaled)
    eight_bits.info = dict(image.info)
    return eight_bits


def decode_all(files: Iterable[tuple[str, bytes]], conversion: Conversion) -> NDArray[np.uint8]:
    """Decode (name, bytes) pairs in order to (n, H, W, C), a few at a time, so that few files are in memory at once.

    On all cores, unless they are too small for that to pay.
    """
    arrays: list[NDArray[np.uint8]] = []
    remaining = iter(files)
    with ThreadPoolExecutor(os.cpu_count()) as pool:  # its threads are started when they are needed
        while some := list(itertools.islice(remaining, AT_ONCE)):
            small = sum(len(content) for _, content in some) < 32_768 * len(some)
            arrays += (map if small else pool.map)(lambda file: decode(file[1], file[0], conversion), some)
    return np.stack(arrays)
