"""Pictures as 16 x 16 grey pixels, by which copies of another size or quality are recognised."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray
from PIL import Image

SIDE = 16


def grey_look(picture: Image.Image) -> NDArray[np.float32]:
    """Return the grey pixels of a picture, (256,), with mean 0 and length 1.

    The correlation of two pictures is the product of these. A picture of one shade has zeros, and
    is like no other.
    """
    small = picture.convert("L").resize((SIDE, SIDE), Image.Resampling.BOX)
    values = np.asarray(small, np.float32).ravel()
    values = values - values.mean()
    length = float(np.linalg.norm(values))
    if length < 1:
        return np.zeros_like(values)
    return values / np.float32(length)


def grey_looks(pictures: Sequence[Image.Image]) -> NDArray[np.float32]:
    """Return the grey pixels of several pictures, (n, 256)."""
    if not pictures:
        return np.zeros((0, SIDE * SIDE), np.float32)
    return np.stack([grey_look(picture) for picture in pictures])
