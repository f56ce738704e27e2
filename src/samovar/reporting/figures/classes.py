"""A picture of the hardest and the easiest classes of an evaluation."""

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from numpy.typing import NDArray

from samovar.evaluation.per_class import ClassMetrics, ClassRanking, HardClass
from samovar.reporting.figures.style import GREEN, VERMILION, plain_label, png

COLUMN_MISTAKES = 2
"""Mistakes of each hard class that get a column; more would be too many to read."""


def classes_figure(classes: ClassRanking) -> bytes:
    """Draw the accuracy of the extreme classes, and what the hardest are mistaken for."""
    rows = max(len(classes.hardest), len(classes.easiest))
    figure = Figure(figsize=(11, 0.3 * rows + 1.3), layout="constrained")
    confusion, ranking = figure.subplots(1, 2, width_ratios=[2.2, 1])
    _draw_confusion(confusion, classes.hardest)
    _draw_ranking(ranking, classes)
    return png(figure)


def _draw_confusion(panel: Axes, hardest: list[HardClass]) -> None:
    """Draw a matrix: a row for each hard class, a column for each class it is mistaken for."""
    columns = _columns(hardest)
    shares = _shares(hardest, columns)
    panel.imshow(shares, cmap="OrRd", vmin=0, aspect="auto")
    for row, column in zip(*np.nonzero(np.isfinite(shares)), strict=True):
        value = shares[row, column]
        color = "black"
        if value > 0.6 * np.nanmax(shares):  # on a dark cell
            color = "white"
        panel.text(column, row, f"{value:.0f}", ha="center", va="center", fontsize=7, color=color)
    row_labels = [plain_label(row.name) for row in hardest]
    column_labels = [plain_label(name) for name in columns]
    panel.set_yticks(range(len(hardest)), row_labels, fontsize=7)
    panel.set_xticks(range(len(columns)), column_labels, fontsize=7, rotation=35, ha="right")
    panel.set_title(
        "what the hardest classes are mistaken for (% where both are in the task)", fontsize=9
    )


def _columns(hardest: list[HardClass]) -> list[str]:
    """Return the names of the most frequent mistakes, each once."""
    names: list[str] = []
    for row in hardest:
        for mistake in row.taken_for[:COLUMN_MISTAKES]:
            if mistake.name not in names:
                names.append(mistake.name)
    return names


def _shares(hardest: list[HardClass], columns: list[str]) -> NDArray[np.float64]:
    """Return the percentages of the matrix; NaN where a class is not among the listed mistakes."""
    shares = np.full((len(hardest), max(1, len(columns))), np.nan)
    for row, hard_class in enumerate(hardest):
        for mistake in hard_class.taken_for:
            if mistake.name in columns:
                shares[row, columns.index(mistake.name)] = 100 * mistake.share
    return shares


def _draw_ranking(panel: Axes, classes: ClassRanking) -> None:
    """Draw a bar for each class, from the easiest to the hardest."""
    shown = _ranked(classes)
    easy = min(len(classes.easiest), len(shown) - len(shown) // 2)
    colors = [GREEN] * easy + [VERMILION] * (len(shown) - easy)
    positions = range(len(shown))
    panel.barh(positions, [100 * row.accuracy for row in shown], color=colors)
    panel.set_yticks(positions, [plain_label(row.name) for row in shown], fontsize=5.5)
    panel.invert_yaxis()
    title = "accuracy, %: easiest, then hardest"
    if len(shown) < len(classes.easiest) + len(classes.hardest):
        title = "accuracy of all classes, %: easiest first"
    panel.set_title(title, fontsize=9)


def _ranked(classes: ClassRanking) -> list[ClassMetrics]:
    """Return the classes of both lists, the easiest first; few classes are in both, shown once."""
    shown: list[ClassMetrics] = list(classes.easiest)
    names = {row.name for row in shown}
    for row in reversed(classes.hardest):
        if row.name not in names:
            shown.append(row)
    return shown
