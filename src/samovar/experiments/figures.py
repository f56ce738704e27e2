"""What the pictures of several experiments share.

Every picture is drawn from the data that NAME.json holds, so that it can be drawn again without the
evidence.
"""

import math
from collections.abc import Sequence
from typing import Any

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from samovar.reporting.figures.style import BLACK, BLUE, GREEN, PURPLE, VERMILION, png

Rows = list[dict[str, Any]]
"""Results as NAME.json holds them."""

METHOD_COLORS = {
    "samovar": BLUE,
    "versa": VERMILION,
    "separate": GREEN,
    "prototypes": PURPLE,
    "tadam": VERMILION,
}
METHOD_MARKERS = {"samovar": "o", "versa": "s", "separate": "^", "prototypes": "D"}


def method_color(method: str) -> str:
    """Return the colour of a method; a method that is new here is black."""
    return METHOD_COLORS.get(method, BLACK)


def method_marker(method: str) -> str:
    """Return the marker of a method."""
    return METHOD_MARKERS.get(method, "x")


def column(rows: Rows, key: str, unit: float = 1) -> list[float]:
    """Return what each row holds under a key, in a unit (100 for percent).

    >>> column([{"ece": 0.1}, {"ece": 0.2}], "ece")
    [0.1, 0.2]
    """
    values = []
    for row in rows:
        # matplotlib leaves a gap where a value is missing.
        values.append(row[key] if row[key] is None else unit * row[key])
    return values


def distinct(rows: Rows, key: str) -> list[Any]:
    """Return the different values that the rows hold under a key, in order of size."""
    return sorted(set(column(rows, key)))


def matching(rows: Rows, key: str, value: Any) -> Rows:
    """Return the rows that hold this value under a key."""
    return [row for row in rows if row[key] == value]


def draw_rings(panel: Axes, values: Sequence[float], positions: Sequence[int]) -> None:
    """Draw values to compare ours with as rings."""
    panel.plot(values, positions, "o", mfc="none", mec="0.3", markersize=8)


def label_rows(panel: Axes, entries: list[dict[str, Any]]) -> None:
    """Write the row and column of each entry beside the panel, from top to bottom."""
    labels = [f"{entry['row']}, {entry['column']}" for entry in entries]
    panel.set_yticks(range(len(entries)), labels, fontsize=8)
    panel.set_ylim(len(entries) - 0.5, -0.5)
    panel.grid(axis="x", color="0.9")


def accuracy_figure(data: dict[str, Any]) -> bytes:
    """Draw a table of accuracies: ours with intervals, and what is published as rings.

    Published accuracies of the same rows are drawn at the paper's scale only; rows of other methods
    that a table quotes stand below ours.
    """
    comparable = data["scale"] == "paper"
    entries = [*data["cells"], *_quoted_entries(data.get("quoted", []))]
    figure = Figure(figsize=(8, 0.36 * len(entries) + 1.2), layout="constrained")
    panel = figure.subplots()
    for position, entry in enumerate(entries):
        if entry["published"] is not None and (comparable or "quoted" in entry):
            draw_rings(panel, [100 * entry["published"]], [position])
        if entry["ours"] is not None:
            _draw_ours(panel, entry["ours"], position)
        elif "quoted" not in entry:
            _draw_missing(panel, position)
    label_rows(panel, entries)
    panel.set(
        xlabel="accuracy, %",
        title=f"{data['name']} ({data['scale']} scale): ours filled, published as rings",
    )
    return png(figure)


def percent_interval(measured: dict[str, Any]) -> float:
    """Return the half-width of an interval in percent; NaN draws no bar, for a single task."""
    half = measured["ci95"]
    if half is None:
        return math.nan
    return 100 * float(half)


def _quoted_entries(rows: Rows) -> Rows:
    """Return an entry for each accuracy of the rows that a table quotes."""
    entries = []
    for row in rows:
        for column, key in (("5-shot", "five_shot"), ("1-shot", "one_shot")):
            name = f"{row['method']} ({row['features']}, quoted)"
            entry = {"row": name, "column": column, "ours": None, "quoted": True}
            entries.append(entry | {"published": row[key] / 100})
    return entries


def _draw_ours(panel: Axes, ours: dict[str, Any], position: int) -> None:
    panel.errorbar(
        100 * ours["mean"],
        position,
        xerr=percent_interval(ours),
        fmt="o",
        color=BLUE,
        capsize=3,
    )


def _draw_missing(panel: Axes, position: int) -> None:
    # To the right of the panel, where there can be no ring.
    panel.text(
        1.01,
        position,
        "ready to run",
        fontsize=7,
        color="0.5",
        transform=panel.get_yaxis_transform(),
        va="center",
    )
