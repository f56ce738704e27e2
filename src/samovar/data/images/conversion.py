"""How decoded images of any mode and size become arrays of one shape."""

from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray
from PIL import Image

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
    scales = (
        (2.0**16 - 1,)
        if known
        else (1.0 if image.mode == "F" else 255.0, 255.0, 2.0**16 - 1, 2.0**32 - 1)
    )
    full_scale = next((each for each in scales if top <= each), top)
    scaled = (values.clip(0, full_scale) * (255 / full_scale)).round().astype(np.uint8)
    eight_bits = Image.fromarray(scaled)
    eight_bits.info = dict(image.info)
    return eight_bits
