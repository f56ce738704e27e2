"""A user's images with their answers above them."""

import math
from collections.abc import Sequence

import numpy as np
from matplotlib.figure import Figure
from numpy.typing import NDArray

from samovar.reporting.answers import AnswerRow
from samovar.reporting.figures.style import (
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


def answers_figure(images: Sequence[NDArray[np.uint8]], rows: Sequence[AnswerRow]) -> bytes:
    """Draw images (H, W, C) with their answers, the first 60 of them; rejected ones are orange."""
    shown = min(len(images), MOST_IMAGES)
    columns = min(COLUMNS, shown)
    lines = math.ceil(shown / columns)
    height = 2.3 * lines
    if shown < len(images):
        height += 0.3  # for the line that says so
    figure = Figure(figsize=(1.9 * columns, height), layout="constrained")
    panels = empty_panels(figure, lines, columns)
    for number in range(shown):
        panel = panels[divmod(number, columns)]
        draw_image(panel, images[number])
        text, colour = _title(rows[number])
        panel.set_title(text, fontsize=8, color=colour)
    if shown < len(images):
        figure.supxlabel(f"the first {shown} of {len(images)}", fontsize=8)
    return png(figure)


def _title(row: AnswerRow) -> tuple[str, str]:
    """Return the text over an image, with the probability if it is answered, and its colour."""
    if row.rejected:
        return wrapped_label(row.label, LABEL_WIDTH), VERMILION
    probability = max(row.probabilities.values())
    return wrapped_label(row.label, LABEL_WIDTH, f" {probability:.0%}"), DARK_GREEN
