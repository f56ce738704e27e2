"""The contact sheet of a data set."""

from typing import Any

import numpy as np
from matplotlib.figure import Figure

from samovar.core.randomness import generator
from samovar.core.text import printable
from samovar.data.dataset import Dataset
from samovar.errors import DataError
from samovar.reporting.figures.style import plain_label, png, show_pixels

ROW_HEIGHT = 0.75
"""Inches of a row of images."""
GAP = 2
"""Pixels between two images."""


def contact_sheet(dataset: Dataset, classes: int, seed: int, columns: int = 12) -> bytes:
    """Draw images of some classes of a data set, one class per row with its name beside it."""
    _check_drawable(dataset, classes)
    chosen = np.sort(generator(seed, "contact sheet").permutation(len(dataset))[:classes])
    height = ROW_HEIGHT * len(chosen) + 0.5
    figure = Figure(figsize=(11, height))
    figure.subplots_adjust(left=0.23, right=0.99, bottom=0.02, top=1 - 0.4 / height)
    title = f"{dataset.description}: {len(chosen)} of its classes"
    figure.suptitle(printable(title).replace("$", r"\$"), fontsize=10)
    panels = figure.subplots(len(chosen), 1, squeeze=False)[:, 0]
    for panel, position in zip(panels, chosen, strict=True):
        show_pixels(panel, _strip(dataset, position, columns))
        _label_row(panel, dataset.class_names[position])
    return png(figure)


def _check_drawable(dataset: Dataset, classes: int) -> None:
    if len(dataset.store.facts["shape"]) != 3:
        raise DataError(
            f"{dataset.store.name} contains feature vectors, which cannot be drawn as images."
        )
    if classes < 1 or not len(dataset):
        raise DataError(
            f"There is nothing to draw: {classes} classes of {dataset.description}. "
            "Choose --classes of at least 1 and a split that has classes."
        )


def _strip(dataset: Dataset, position: int, columns: int) -> np.ndarray:
    """Return the first images of a class side by side on white: (H, columns * (W + GAP), C)."""
    height, width, channels = dataset.store.facts["shape"]
    count = int(min(columns, dataset.counts[position]))
    images = dataset.gather(dataset.starts[position] + np.arange(count)).numpy()
    strip = np.full((height, columns * (width + GAP), channels), 255, np.uint8)
    for column, image in enumerate(images):
        left = column * (width + GAP)
        strip[:, left : left + width] = image
    return strip


def _label_row(panel: Any, name: str) -> None:
    # Switching the axes off would take the label with them.
    panel.set_xticks([])
    panel.set_yticks([])
    panel.spines[:].set_visible(False)
    panel.set_ylabel(plain_label(name), rotation=0, ha="right", va="center", fontsize=7)
