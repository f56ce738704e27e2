"""Images of any kind as upright pictures of eight bits in RGB, at their own size.

This is the hardened decoder without the final step of `conversion.convert`, which crops and
resizes for small networks. Encoders have their own preprocessing and start from such a picture.
"""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch
from PIL import Image

from samovar.data.images.conversion import upright
from samovar.data.images.decode import decoding, opened_image, read_file
from samovar.data.images.user_images import array_picture
from samovar.errors import DataError


@dataclass(frozen=True)
class ImageFile:
    """An image as a file: on the disk, in an archive, or in memory."""

    name: str
    """What errors call it."""
    read: Callable[[], bytes]
    """Returns its bytes."""

    @classmethod
    def at(cls, path: Path) -> "ImageFile":
        """Return the file at a path."""
        return cls(str(path), lambda: read_file(path))


def decode_picture(content: bytes, name: str, least: int | None = None) -> Image.Image:
    """Decode the bytes of an image file to an upright picture; `name` is for the error message.

    A JPEG is decoded at a half, a quarter or an eighth of its size as long as both sides keep at
    least `least` pixels. That is much faster, and the picture is about to be made smaller anyway.
    """
    with opened_image(content, name) as image:
        if least is not None:
            image.draft(image.mode, (least, least))  # does nothing to formats other than JPEG
        with decoding(image):
            image.load()
            return upright(image)


def as_picture(image: Any, position: int) -> Image.Image:
    """Make an upright picture of a PIL image, an array or a tensor.

    `position` is where it stands in the user's list, for the error message.
    """
    if isinstance(image, torch.Tensor):
        image = image.detach().cpu().numpy()
    if not isinstance(image, Image.Image):
        image = array_picture(np.asarray(image), position)
    try:
        image.load()  # a PIL image may be a file that nobody has decoded yet
        return upright(image)
    except Exception as error:  # Pillow's parsers raise many kinds of errors on damaged files
        reason = str(error) or type(error).__name__
        raise DataError(f"Image {position} cannot be read ({reason}).") from error
