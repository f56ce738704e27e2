"""A user's images with the answers under them."""

from typing import Any

import numpy as np
from matplotlib.figure import Figure

from samovar.reporting.figures.style import draw_image, plain_label, png


def answers_figure(
    images: np.ndarray, rows: list[dict[str, Any]], columns: int = 6, most: int = 60
) -> bytes:
    """Images (n, H, W, C) with the answers of `samovar predict --json` under them; what was rejected is red."""
    shown = min(len(images), most)
    columns = min(columns, shown)
    lines = -(-shown // columns)
    figure = Figure(
        figsize=(1.9 * columns, 2.3 * lines + (0.3 if shown < len(images) else 0)),
        layout="constrained",
    )
    for panel in (panels := figure.subplots(lines, columns, squeeze=False)).flat:
        panel.axis("off")
    for position in range(shown):
        row, panel = rows[position], panels[divmod(position, columns)]
        draw_image(panel, images[position])
        color = "#D55E00" if row["rejected"] else "#00664B"
        best = max(row["probabilities"].values())
        text = plain_label(row["label"]) + ("" if row["rejected"] else f" {best:.0%}")
        panel.set_title(text, fontsize=8, color=color)
    if shown < len(images):
        figure.supxlabel(f"the first {shown} of {len(images)}", fontsize=8)
    return png(figure)
