"""A contact sheet of the images to label next."""

import math
from collections.abc import Sequence
from pathlib import Path

import numpy as np
from matplotlib.figure import Figure
from numpy.typing import NDArray

from samovar.reporting.figures.fonts import Fonts
from samovar.reporting.figures.style import BLACK, draw_image, empty_panels, plain_label, png
from samovar.reporting.suggestion_files import SuggestedImage
from samovar.reporting.terminal import shortened

COLUMNS = 5
MOST_IMAGES = 60
LABEL_WIDTH = 26


def suggestions_figure(
    images: Sequence[NDArray[np.uint8]], suggested: Sequence[SuggestedImage]
) -> bytes:
    """Draw images (H, W, C) in order, at most 60, with their numbers, names and guesses."""
    shown = min(len(images), MOST_IMAGES)
    columns = min(COLUMNS, shown)
    lines = math.ceil(shown / columns)
    figure = Figure(figsize=(2.1 * columns, 2.5 * lines), layout="constrained")
    panels = empty_panels(figure, lines, columns)
    names = [Path(image.row.image).name for image in suggested[:shown]]
    fonts = Fonts.for_texts([*names, *(image.row.label for image in suggested[:shown])])
    for number in range(shown):
        panel = panels[divmod(number, columns)]
        draw_image(panel, images[number])
        name = fonts.drawable(f"{number + 1}. {names[number]}")
        row = suggested[number].row
        ending = "?" if row.rejected else f"? {row.probability:.0%}"
        guess = shortened(fonts.drawable(row.label), LABEL_WIDTH - len(ending)) + ending
        title = f"{plain_label(shortened(name, LABEL_WIDTH))}\n{plain_label(guess)}"
        panel.set_title(title, fontsize=8, color=BLACK, fontfamily=fonts.families)
    return png(figure)
