"""What all pictures share: colours, labels, and the bytes of a PNG."""

import io
import textwrap
from typing import Any

import numpy as np
from matplotlib.figure import Figure

from samovar.core.text import printable

# Okabe and Ito's palette, whose colours can be told apart with any colour vision.
BLACK = "#000000"
BLUE = "#0072B2"
GREEN = "#009E73"
DARK_GREEN = "#00664B"
"""Not of the palette: its green is too light for small text on white."""
VERMILION = "#D55E00"
PURPLE = "#CC79A7"
ORANGE = "#E69F00"
SKY_BLUE = "#56B4E9"

LONGEST_LABEL = 34
"""Characters of a class name that fit beside a row of images."""


def png(figure: Figure) -> bytes:
    """Return the figure as PNG.

    Without the date and version in its metadata, equal figures are equal files.
    """
    buffer = io.BytesIO()
    figure.savefig(buffer, format="png", dpi=200, metadata={"Software": None})
    return buffer.getvalue()


def plain_label(name: str) -> str:
    r"""Return a class name as plain text that fits: without line breaks and mathematics.

    >>> plain_label("a\n$b$")
    'a \\$b\\$'
    """
    # Names of folders need not be text, and control characters cannot be drawn.
    plain = printable(" ".join(name.split())).replace("$", r"\$")
    if len(plain) > LONGEST_LABEL:
        return f"{plain[: LONGEST_LABEL - 1]}…"
    return plain


def wrapped_label(name: str, width: int, ending: str = "") -> str:
    """Return a class name, and what follows it, on lines of at most `width` characters.

    Titles of neighbouring images would run into each other on one line.

    >>> print(wrapped_label("CYRILLIC SMALL LETTER EL", 16, " 99%"))
    CYRILLIC SMALL
    LETTER EL 99%
    """
    return "\n".join(textwrap.wrap(plain_label(name) + ending, width))


def show_pixels(panel: Any, image: np.ndarray) -> None:
    """Show an image (H, W, C) of 0 to 255, grey with one channel."""
    if image.shape[-1] == 1:
        image = image.squeeze(-1)
    panel.imshow(image, cmap="gray", vmin=0, vmax=255)


def draw_image(panel: Any, image: np.ndarray) -> None:
    """Draw one image (H, W, C) without axes."""
    show_pixels(panel, image)
    panel.axis("off")


def empty_panels(figure: Any, rows: int, columns: int, **options: Any) -> np.ndarray:
    """Return a grid of panels (rows, columns) without axes, to be filled one by one."""
    panels: np.ndarray = figure.subplots(rows, columns, squeeze=False, **options)
    for panel in panels.flat:
        panel.axis("off")
    return panels
