"""What all pictures share."""

import io
from typing import Any

import numpy as np
from matplotlib.figure import Figure


def png(figure: Figure) -> bytes:
    """The figure as PNG, without the date and version that would make equal figures differ."""
    buffer = io.BytesIO()
    figure.savefig(buffer, format="png", dpi=200, metadata={"Software": None})
    return buffer.getvalue()


def plain_label(name: str) -> str:
    """A class name as plain text that fits: no line breaks, no mathematics."""
    plain = " ".join(name.split()).replace("$", r"\$")
    return plain if len(plain) <= 34 else f"{plain[:33]}…"


def draw_image(panel: Any, image: np.ndarray) -> None:
    """Draw one image without axes."""
    panel.imshow(
        image.squeeze(-1) if image.shape[-1] == 1 else image, cmap="gray", vmin=0, vmax=255
    )
    panel.axis("off")
