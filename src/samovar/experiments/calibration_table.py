"""NLL and calibration of measured models, as the lines of a table.

Averages over sampled classifiers stand beside the classifier at the mean and, for deterministic
models, whose probabilities are those of an alpha that somebody chose, beside those with a
temperature fitted on validation tasks.
"""

from typing import Any

from samovar.experiments.figures import Rows
from samovar.experiments.markdown import (
    SEEDS_NOTE,
    SIGN_NOTE,
    calibration,
    table_head,
    table_row,
)

COLUMNS = ("", "", "NLL", "NLL at the mean", "ECE", "ECE at the mean")
TEMPERED_COLUMNS = ("NLL with a fitted temperature", "ECE with a fitted temperature")


def calibration_lines(entries: Rows) -> list[str]:
    """Return a table of the measured entries of a table of accuracies, as NAME.json holds them."""
    measured = measured_entries(entries)
    columns = [*COLUMNS]
    some_tempered = any("tempered_ece" in entry for entry in measured)
    if some_tempered:
        columns += TEMPERED_COLUMNS
    lines = [f"{SIGN_NOTE} {SEEDS_NOTE}", "", *table_head(columns)]
    for entry in measured:
        cells = _cells(entry)
        if some_tempered:
            cells += _tempered_cells(entry)
        lines.append(table_row(cells))
    return lines


def measured_entries(entries: Rows) -> Rows:
    """Return the entries that have been measured."""
    return [entry for entry in entries if entry["ours"] is not None]


def _cells(entry: dict[str, Any]) -> list[str]:
    return [
        entry["row"],
        entry["column"],
        f"{entry['nll']:.4f}",
        f"{entry['mean_classifier_nll']:.4f}",
        calibration(entry["ece"], entry["gap"], entry["ece_ci95"]),
        calibration(
            entry["mean_classifier_ece"],
            entry["mean_classifier_gap"],
            entry["mean_classifier_ece_ci95"],
        ),
    ]


def _tempered_cells(entry: dict[str, Any]) -> list[str]:
    if "tempered_ece" not in entry:
        return ["", ""]
    ece = calibration(entry["tempered_ece"], entry["tempered_gap"], entry["tempered_ece_ci95"])
    return [f"{entry['tempered_nll']:.4f}", ece]
