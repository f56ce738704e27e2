"""A user's images with their answers above them."""

import math
import textwrap
from collections.abc import Sequence

import numpy as np
from matplotlib.figure import Figure
from numpy.typing import NDArray

from samovar.reporting.answers import DOUBTFUL, NO_LABEL, AnswerRow
from samovar.reporting.figures.fonts import Fonts
from samovar.reporting.figures.style import (
    BLACK,
    DARK_GREEN,
    VERMILION,
    draw_image,
    empty_panels,
    plain_label,
    png,
    wrapped_label,
)

COLUMNS = 6
MOST_IN_SET = 3
"""Names of a set above an image."""
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
    if rows[0].set is not None:
        height += 0.3 * lines  # for the sets
    left_out = (of or len(images)) > shown
    if left_out:
        height += 0.3  # for the line that says so
    figure = Figure(figsize=(1.9 * columns, height), layout="constrained")
    panels = empty_panels(figure, lines, columns)
    texts = [row.label for row in rows[:shown]]
    for row in rows[:shown]:
        texts += row.set or []
    fonts = Fonts.for_texts(texts)
    for number in range(shown):
        panel = panels[divmod(number, columns)]
        draw_image(panel, images[number])
        text, colour = _title(rows[number], fonts)
        panel.set_title(text, fontsize=8, color=colour, fontfamily=fonts.families)
    if left_out:
        figure.supxlabel(f"the {shown} most doubtful of {of or len(images)}", fontsize=8)
    return png(figure)


def _title(row: AnswerRow, fonts: Fonts) -> tuple[str, str]:
    """Return the text over an image, with the probability if it is answered, and its colour.

    Where sets were asked for, the set of the image is on the lines below.
    """
    label = fonts.drawable(row.label)
    below = _set_lines(row, fonts)
    if row.rejected:
        return wrapped_label(label, LABEL_WIDTH) + below, VERMILION
    colour = DARK_GREEN
    if row.probability < DOUBTFUL:
        colour = BLACK
    return wrapped_label(label, LABEL_WIDTH, f" {row.probability:.0%}") + below, colour


def _set_lines(row: AnswerRow, fonts: Fonts) -> str:
    """Return the set of an image on lines of its own; nothing if no sets were asked for."""
    if row.set is None:
        return ""
    names = [plain_label(fonts.drawable(name)) for name in row.set[:MOST_IN_SET]]
    if len(row.set) > MOST_IN_SET:
        names.append(f"{len(row.set) - MOST_IN_SET} more")
    text = f"set: {', '.join(names) or NO_LABEL}"
    return "\n" + "\n".join(textwrap.wrap(text, LABEL_WIDTH))
