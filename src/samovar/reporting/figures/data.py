"""The contact sheet of a data set."""

import numpy as np
from matplotlib.figure import Figure

from samovar.core.randomness import generator
from samovar.data.dataset import Dataset
from samovar.errors import DataError
from samovar.reporting.figures.style import plain_label, png


def contact_sheet(dataset: Dataset, classes: int, seed: int, columns: int = 12) -> bytes:
    """Some classes of a data set, a row each, with its name beside it."""
    if len(dataset.store.facts["shape"]) != 3:
        raise DataError(f"{dataset.store.name} holds feature vectors; there is nothing to draw.")
    if classes < 1 or not len(dataset):
        raise DataError(f"There is nothing to draw: {classes} classes of {dataset.description}.")
    chosen = np.sort(generator(seed, "contact sheet").permutation(len(dataset))[:classes])
    height, width, _ = dataset.store.facts["shape"]
    figure = Figure(figsize=(11, 0.75 * len(chosen) + 0.5))
    figure.subplots_adjust(
        left=0.23, right=0.99, bottom=0.02, top=1 - 0.4 / (0.75 * len(chosen) + 0.5)
    )
    panels = figure.subplots(len(chosen), 1, squeeze=False)[:, 0]
    figure.suptitle(
        f"{dataset.description}: {len(chosen)} of its classes".replace("$", r"\$"), fontsize=10
    )
    for panel, position in zip(panels, chosen, strict=True):
        count = int(min(columns, dataset.counts[position]))
        images = dataset.gather(dataset.starts[position] + np.arange(count)).numpy()
        strip = np.full((height, columns * (width + 2), images.shape[-1]), 255, np.uint8)
        for column, image in enumerate(images):
            strip[:, column * (width + 2) : column * (width + 2) + width] = image
        panel.imshow(
            strip.squeeze(-1) if strip.shape[-1] == 1 else strip, cmap="gray", vmin=0, vmax=255
        )
        panel.set_xticks([])
        panel.set_yticks([])
        panel.spines[:].set_visible(False)
        panel.set_ylabel(
            plain_label(dataset.class_names[position]),
            rotation=0,
            ha="right",
            va="center",
            fontsize=7,
        )
    return png(figure)
