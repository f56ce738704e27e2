"""`samovar reproduce sampling`: what averaging gains over the classifier at the mean, beside the published gain."""

from typing import Any

import numpy as np

from samovar.experiments.cells import Cell, Scale
from samovar.experiments.reproduce import Workplace, stored_study
from samovar.experiments.tables import Written, title

PUBLISHED_GAIN = {5: 0.1, 1: 0.4}
"""Points that averaging 10,000 classifiers gains in the paper's study (SC-AT-TEN)."""


def sampling(scale: Scale, cells: list[Cell], place: Workplace) -> Written:
    """A row for each model that has been studied; which one is said."""
    found = [
        {"model": cell.name} | study
        for cell in cells
        if (study := stored_study(cell, place)) is not None
    ]
    lines = title("sampling", scale, cells)
    lines += [
        "1000 tasks, ten repeats with fresh noise. The paper's gain is that of 10,000 samples, of SC-AT-TEN.",
        "",
    ]
    columns = "shot | model | at the mean | 1 sample | 1000 samples | 10,000 | gain of 10,000 | paper's gain | equal to 1000"
    lines += [f"| {columns} |", "|---" * 9 + "|", *map(_row, found)]
    if not found:
        lines += ["", "Nothing has been measured yet."]
    return Written(
        {"format": 3, "name": "sampling", "scale": scale, "studies": found}, "\n".join(lines) + "\n"
    )


def _row(study: dict[str, Any]) -> str:
    plain = {row["samples"]: row for row in study["results"] if row["kind"] == "plain"}
    shot, mean = study["protocol"]["shot"], study["mean_classifier"]["accuracy"]
    figures = (mean, *(np.mean(plain[count]["accuracy"]) for count in (1, 1000, 10_000)))
    ours, gain = " | ".join(f"{100 * each:.2f}" for each in figures), plain[10_000]["gain"]
    equal = study["quasi_equal_to_1000"]
    enough = "no number tried" if equal is None else f"{equal} quasi-random"
    difference = f"{100 * gain['mean']:+.2f} ± {100 * gain['ci95']:.2f} | +{PUBLISHED_GAIN[shot]}"
    return f"| {shot} | {study['model']} | {ours} | {difference} | {enough} |"
