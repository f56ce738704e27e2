"""A user's images with their answers above them."""

import math
from collections.abc import Sequence

import numpy as np
from matplotlib.figure import Figure
from numpy.typing import NDArray

from samovar.reporting.answers import AnswerRow
from samovar.reporting.figures.style import draw_image, plain_label, png

COLUMNS = 6
MOST_IMAGES = 60
ANSWERED, REJECTED = "#00664B", "#D55E00"


def answers_figure(images: Sequence[NDArray[np.uint8]], rows: Sequence[AnswerRow]) -> bytes:
    """Draw images (H, W, C) with their answers, the first 60 of them; rejected ones are red."""
    shown = min(len(images), MOST_IMAGES)
    columns = min(COLUMNS, shown)
    lines = math.ceil(shown / columns)
    height = 2.3 * lines
    if shown < len(images):
        height += 0.3  # for the line that says so
    figure = Figure(figsize=(1.9 * columns, height), layout="constrained")
    panels = figure.subplots(lines, columns, squeeze=False)
    for panel in panels.flat:
        panel.axis("off")
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
    label = plain_label(row.label)
    if row.rejected:
        return label, REJECTED
    return f"{label} {max(row.probabilities.values()):.0%}", ANSWERED
