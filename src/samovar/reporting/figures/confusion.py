"""Which class was taken for which, as a picture."""

from typing import Any

import numpy as np
from matplotlib.figure import Figure
from numpy.typing import NDArray

from samovar.classifier.score_report import ScoreReport
from samovar.reporting.figures.fonts import Fonts
from samovar.reporting.figures.style import plain_label, png

NUMBERED = 30
"""Classes up to which the cells have numbers."""
LARGEST = 24.0
"""Inches of the longest side."""


def confusion_figure(report: ScoreReport) -> bytes:
    """Draw how often each class (rows) got each answer (columns), as shares of the row."""
    answers = [*map(str, report.classes), str(report.reject_label)]
    truths = [*map(str, report.classes), *map(str, report.others)]
    fonts = Fonts.for_texts([*answers, *truths])
    width = min(LARGEST, 3.0 + 0.42 * len(answers))
    height = min(LARGEST, 2.4 + 0.42 * len(truths))
    figure = Figure(figsize=(width, height), layout="constrained")
    panel = figure.subplots()
    totals = report.counts.sum(1, keepdims=True).clip(min=1)
    shares = report.counts / totals
    panel.imshow(shares, cmap="Blues", vmin=0, vmax=1, aspect="auto")
    size = max(4.0, min(9.0, 260 / len(truths)))
    labels = [plain_label(fonts.drawable(name)) for name in answers]
    style: dict[str, Any] = {"fontsize": size, "fontfamily": fonts.families}
    panel.set_xticks(range(len(answers)), labels, rotation=45, ha="right", **style)
    labels = [plain_label(fonts.drawable(name)) for name in truths]
    panel.set_yticks(range(len(truths)), labels, **style)
    panel.set(xlabel="answer", ylabel="truth")
    if len(truths) > len(report.classes):  # a line between the classes and the others
        panel.axhline(len(report.classes) - 0.5, color="0.4", linewidth=1)
    if len(truths) <= NUMBERED:
        _write_numbers(panel, report, shares)
    accuracy = report.accuracy
    if accuracy.images:
        low, high = accuracy.ci95
        title = f"{accuracy.count} of {accuracy.images} right: {accuracy.value:.0%}"
        # Over the whole figure: a panel with long labels beside it may be narrower than the text.
        figure.suptitle(f"{title} (95 % interval {low:.0%} to {high:.0%})", fontsize=10)
    return png(figure)


def _write_numbers(panel: Any, report: ScoreReport, shares: NDArray[np.float64]) -> None:
    for row, column in zip(*np.nonzero(report.counts), strict=True):
        color = "white" if shares[row, column] > 0.6 else "black"
        number = str(report.counts[row, column])
        panel.text(column, row, number, ha="center", va="center", color=color, fontsize=8)
