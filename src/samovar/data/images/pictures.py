"""Images of any kind as upright pictures of eight bits in RGB, at their own size.

This is the hardened decoder without the final step of `conversion.convert`, which crops and
resizes for small networks. Encoders have their own preprocessing and start from such a picture.
"""

from typing import Any

import numpy as np
import torch
from PIL import Image

from samovar.data.images.conversion import upright
from samovar.data.images.decode import decoding, opened_image
from samovar.data.images.image_file import ImageFile as ImageFile  # whoever decodes needs both
from samovar.data.images.user_images import array_picture
from samovar.errors import DataError


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


def shown_picture(content: bytes, name: str, side: int) -> Image.Image:
    """Decode an image file to a whole upright picture whose longer side has at most `side` pixels.

    This is for people to look at: nothing is cropped.
    """
    picture = decode_picture(content, name, side)
    picture.thumbnail((side, side), Image.Resampling.LANCZOS)
    return picture


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
