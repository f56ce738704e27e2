"""`samovar reproduce sampling`: what averaging gains over the classifier at the mean, beside the published gain."""

from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from samovar.config import named_protocol
from samovar.evaluation import Evaluator, training_dataset
from samovar.evaluation_plots import sampling_figure
from samovar.experiments.cells import Cell, Scale, conv_cell
from samovar.experiments.cells import sampling as sampling_cells
from samovar.experiments.reproduce import Workplace, finished_run
from samovar.experiments.sampling import sampling_study
from samovar.experiments.tables import Written, title
from samovar.model_folder import load_model, locate_model
from samovar.preset_table import SHOTS, Shot
from samovar.report import progress_bar

PUBLISHED_GAIN = {5: 0.1, 1: 0.4}
"""Points that averaging 10,000 classifiers gains in the paper's study (SC-AT-TEN)."""


def sampling(scale: Scale, place: Workplace, seed: int, device: str) -> tuple[Written, bytes | None]:
    """1000 tasks at both shots, each by the model at hand: table, data and figure."""
    studies = {}
    for shot in SHOTS:
        source = model_at_hand(scale, place, shot)
        if source is None:
            continue
        saved = load_model(source)
        protocol = replace(named_protocol("paper", shot), episodes=1000, seed=seed)
        evaluator = Evaluator(saved, training_dataset(saved, protocol.split), device).tasks(protocol)
        with progress_bar(f"sampling study, {shot}-shot") as progress:
            name = source.parent.name if source.name == "model" else f"{source.name}, shipped"
            studies[str(shot)] = {"model": f"{name} ({scale} scale)"} | sampling_study(
                evaluator, protocol, progress=progress
            )
    return sampling_text(scale, studies), sampling_figure(*studies.values()) if studies else None


def model_at_hand(scale: Scale, place: Workplace, shot: Shot) -> Path | None:
    """The best that was trained for that shot; at cpu scale, where nothing was, the shipped one."""
    trained = first_trained(preferred(scale, shot), place)
    return locate_model("cifar_fs") if trained is None and scale == "cpu" else trained


def preferred(scale: Scale, shot: Shot) -> list[Cell]:
    """The paper's SC-AT-TEN; at cpu scale SAMOVAR-base after it."""
    wanted = [cell for cell in sampling_cells(scale) if cell.settings.episodes.shot == shot]
    return [*wanted, conv_cell("samovar", shot)] if scale == "cpu" else wanted


def first_trained(cells: Iterable[Cell], place: Workplace) -> Path | None:
    """The model of the first cell whose run is finished."""
    runs = (finished_run(cell, place) for cell in cells)
    return next((run.model for run in runs if run is not None), None)


def sampling_text(scale: Scale, studies: dict[str, dict[str, Any]]) -> Written:
    """A row for each shot."""
    lines = title("sampling", scale, sampling_cells(scale))
    lines += ["1000 tasks, ten repeats with fresh noise. The paper's gain is that of 10,000 samples, of SC-AT-TEN.", ""]
    columns = (
        "shot | model | at the mean | 1 sample | 1000 samples | 10,000 | gain of 10,000 | paper's gain | equal to 1000"
    )
    lines += [f"| {columns} |", "|---" * 9 + "|"]
    for shot, study in studies.items():
        plain = {row["samples"]: row for row in study["results"] if row["kind"] == "plain"}
        mean = study["mean_classifier"]["accuracy"]
        figures = (mean, *(np.mean(plain[count]["accuracy"]) for count in (1, 1000, 10_000)))
        ours, gain = " | ".join(f"{100 * each:.2f}" for each in figures), plain[10_000]["gain"]
        equal = study["quasi_equal_to_1000"]
        enough = "no number tried" if equal is None else f"{equal} quasi-random"
        difference = f"{100 * gain['mean']:+.2f} ± {100 * gain['ci95']:.2f} | +{PUBLISHED_GAIN[int(shot)]}"
        lines.append(f"| {shot} | {study['model']} | {ours} | {difference} | {enough} |")
    if not studies:
        lines += ["", "Nothing has been trained yet."]
    return Written({"format": 2, "name": "sampling", "scale": scale, "studies": studies}, "\n".join(lines) + "\n")
