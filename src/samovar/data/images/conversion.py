"""How decoded images of any mode and size become arrays of one shape."""

from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray
from PIL import Image

Colour = Literal["rgb", "grey"]
Resampling = Literal["bilinear", "lanczos"]

ORIENTATION = 0x0112
"""The EXIF tag that says how the camera was held."""
UPRIGHT = {
    2: Image.Transpose.FLIP_LEFT_RIGHT,
    3: Image.Transpose.ROTATE_180,
    4: Image.Transpose.FLIP_TOP_BOTTOM,
    5: Image.Transpose.TRANSPOSE,
    6: Image.Transpose.ROTATE_270,
    7: Image.Transpose.TRANSVERSE,
    8: Image.Transpose.ROTATE_90,
}
"""What sets an image upright, by the value of that tag."""
# Floats, since they divide floats and are compared with them.
WHITE_8_BITS = 2.0**8 - 1
WHITE_16_BITS = 2.0**16 - 1
WHITE_32_BITS = 2.0**32 - 1
BAND_PIXELS = 2**22
"""Larger images are converted in bands of rows: each step would copy the whole of them."""


@dataclass(frozen=True)
class Conversion:
    """How images become arrays of one shape; a model remembers the one it was trained with."""

    size: int
    """Height and width in pixels, after a central square crop."""
    colour: Colour = "rgb"
    resampling: Resampling = "bilinear"
    inverted: bool = False
    """Dark ink on white paper becomes bright ink on black."""

    @property
    def shape(self) -> tuple[int, int, int]:
        """Height, width and number of channels."""
        channels = 3 if self.colour == "rgb" else 1
        return self.size, self.size, channels


def convert(image: Image.Image, conversion: Conversion) -> NDArray[np.uint8]:
    """Convert a decoded image of any mode and size to (H, W, C) uint8.

    It is set upright, laid on white, cropped to the central square and resized.
    """
    picture = upright(image, "RGB" if conversion.colour == "rgb" else "L")
    picture = _central_square(picture)
    if picture.width != conversion.size:
        resampling = Image.Resampling[conversion.resampling.upper()]
        picture = picture.resize((conversion.size, conversion.size), resampling)
    array = np.asarray(picture, dtype=np.uint8).reshape(conversion.shape)
    if conversion.inverted:
        return 255 - array
    return array


def upright(image: Image.Image, mode: Literal["RGB", "L"] = "RGB") -> Image.Image:
    """Return a decoded image in 8 bits, turned as its EXIF entry says, and laid on white."""
    # Read before the pixels are converted, which can lose the EXIF block.
    transpose = _orientation(image)
    picture = _flat(image, mode)
    if transpose is not None:
        picture = picture.transpose(transpose)
    return picture


def _flat(image: Image.Image, mode: Literal["RGB", "L"]) -> Image.Image:
    """Return the image in 8 bits and laid on white; a large one is converted band by band."""
    bands = _bands(image)
    white = _white_of(image, bands)
    if len(bands) == 1:
        return _on_white(_to_eight_bits(image, white), mode)
    picture = Image.new(mode, image.size)
    for box in bands:
        picture.paste(_on_white(_to_eight_bits(image.crop(box), white), mode), box)
    return picture


def _bands(image: Image.Image) -> list[tuple[int, int, int, int]]:
    """Return the boxes of bands of whole rows that make up the image."""
    rows = max(1, BAND_PIXELS // max(1, image.width))
    boxes = []
    for top in range(0, max(1, image.height), rows):
        boxes.append((0, top, image.width, min(image.height, top + rows)))
    return boxes


def _on_white(picture: Image.Image, mode: Literal["RGB", "L"]) -> Image.Image:
    if picture.has_transparency_data:
        picture = picture.convert("RGBA")
        paper = Image.new("RGBA", picture.size, "white")
        picture = Image.alpha_composite(paper, picture)
    return picture.convert(mode)


def _central_square(picture: Image.Image) -> Image.Image:
    side = min(picture.size)
    if picture.size == (side, side):
        return picture
    left = (picture.width - side) // 2
    top = (picture.height - side) // 2
    return picture.crop((left, top, left + side, top + side))


def _orientation(image: Image.Image) -> Image.Transpose | None:
    """Return how to set the image upright, by the only EXIF entry that matters here."""
    try:
        return UPRIGHT.get(int(image.getexif().get(ORIENTATION, 1)))
    except Exception:  # the EXIF block cannot be parsed; the picture itself may well be sound
        return None


def _to_eight_bits(image: Image.Image, white: float | None) -> Image.Image:
    """Scale grey images of 16 or 32 bits to 8 bits; Pillow's own conversion would clip them."""
    if white is None:
        return image
    values = np.asarray(image).astype(np.float64)
    scaled = (values.clip(0, white) * (255 / white)).round().astype(np.uint8)
    eight_bits = Image.fromarray(scaled)
    eight_bits.info = dict(image.info)  # a transparent colour is noted there
    return eight_bits


def _white_of(image: Image.Image, bands: list[tuple[int, int, int, int]]) -> float | None:
    """Return the value that stands for white in a grey image of 16 or 32 bits; else None."""
    if not image.mode.startswith(("I", "F")):
        return None
    largest = 0.0
    for box in bands:
        values = np.asarray(image.crop(box)).astype(np.float64)
        if not np.isfinite(values).all():
            raise ValueError("its pixels are not all finite numbers")
        largest = max(largest, float(values.max(initial=0.0)))
    return _white(image.mode, largest)


def _white(mode: str, largest: float) -> float:
    """Return the value that stands for white.

    It is that of 16 bits if the mode says so, else the first candidate that no pixel exceeds:
    1 (for floats only), and the largest numbers of 8, 16 and 32 bits.
    """
    candidates = [WHITE_8_BITS, WHITE_16_BITS, WHITE_32_BITS]
    if mode.startswith("I;16"):
        candidates = [WHITE_16_BITS]
    elif mode == "F":
        candidates = [1.0, *candidates]
    for white in candidates:
        if largest <= white:
            return white
    return largest
