"""A user's images with their answers above them."""

import math
from collections.abc import Sequence

import numpy as np
from matplotlib.figure import Figure
from numpy.typing import NDArray

from samovar.reporting.answers import DOUBTFUL, AnswerRow
from samovar.reporting.figures.fonts import Fonts
from samovar.reporting.figures.style import (
    BLACK,
    DARK_GREEN,
    VERMILION,
    draw_image,
    empty_panels,
    png,
    wrapped_label,
)

COLUMNS = 6
MOST_IMAGES = 60
LABEL_WIDTH = 26
"""Characters of a label that fit on a line above an image."""


def doubtful_first(rows: Sequence[AnswerRow]) -> list[int]:
    """Return the positions of the answers: rejected ones first, then the least probable."""

    def order(position: int) -> tuple[bool, float]:
        return not rows[position].rejected, rows[position].probability

    return sorted(range(len(rows)), key=order)


def answers_figure(
    images: Sequence[NDArray[np.uint8]], rows: Sequence[AnswerRow], of: int | None = None
) -> bytes:
    """Draw images (H, W, C) with their answers, at most 60; rejected ones are orange.

    `of` is the number of all images, if not all of them are drawn.
    """
    shown = min(len(images), MOST_IMAGES)
    columns = min(COLUMNS, shown)
    lines = math.ceil(shown / columns)
    height = 2.3 * lines
    left_out = (of or len(images)) > shown
    if left_out:
        height += 0.3  # for the line that says so
    figure = Figure(figsize=(1.9 * columns, height), layout="constrained")
    panels = empty_panels(figure, lines, columns)
    fonts = Fonts.for_texts([row.label for row in rows[:shown]])
    for number in range(shown):
        panel = panels[divmod(number, columns)]
        draw_image(panel, images[number])
        text, colour = _title(rows[number], fonts)
        panel.set_title(text, fontsize=8, color=colour, fontfamily=fonts.families)
    if left_out:
        figure.supxlabel(f"the {shown} most doubtful of {of or len(images)}", fontsize=8)
    return png(figure)


def _title(row: AnswerRow, fonts: Fonts) -> tuple[str, str]:
    """Return the text over an image, with the probability if it is answered, and its colour."""
    label = fonts.drawable(row.label)
    if row.rejected:
        return wrapped_label(label, LABEL_WIDTH), VERMILION
    colour = DARK_GREEN
    if row.probability < DOUBTFUL:
        colour = BLACK
    return wrapped_label(label, LABEL_WIDTH, f" {row.probability:.0%}"), colour
