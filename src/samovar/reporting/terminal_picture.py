"""A small picture in the terminal: two pixels in each character, as colours of a half block."""

import numpy as np
from PIL import Image
from rich.color import Color
from rich.style import Style
from rich.text import Text

UPPER_HALF = "▀"
WIDTH = 48
"""Characters of a line."""


def terminal_picture(picture: Image.Image, width: int = WIDTH) -> Text:
    """Return a picture as text of so many columns; each line shows two rows of pixels."""
    rows = max(2, round(picture.height * width / picture.width))
    rows = min(rows + rows % 2, width)
    columns = max(1, min(width, round(picture.width * rows / picture.height)))
    small = picture.convert("RGB").resize((columns, rows), Image.Resampling.LANCZOS)
    pixels = np.asarray(small)
    text = Text()
    for upper, lower in zip(pixels[0::2], pixels[1::2], strict=True):
        for above, below in zip(upper.tolist(), lower.tolist(), strict=True):
            style = Style(color=Color.from_rgb(*above), bgcolor=Color.from_rgb(*below))
            text.append(UPPER_HALF, style)
        text.append("\n")
    return text
