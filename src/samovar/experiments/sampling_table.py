"""`samovar reproduce sampling`: what averaging gains over the classifier at the mean, beside the published gain."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from samovar.config import named_protocol
from samovar.evaluation import Evaluator, training_dataset
from samovar.evaluation_plots import sampling_figure
from samovar.experiments.cells import conv_cell, table2
from samovar.experiments.reproduce import Workplace
from samovar.experiments.sampling import sampling_study
from samovar.experiments.tables import CPU_LABEL, Written
from samovar.model_folder import load_model, locate_model
from samovar.preset_table import SHOTS, Shot
from samovar.report import progress_bar

PUBLISHED_GAIN = {5: 0.1, 1: 0.4}
"""Points that averaging gains in the paper's study (SC-AT-TEN)."""


def sampling(place: Workplace, seed: int) -> tuple[Written, bytes]:
    """1000 tasks at both shots, each by the best model at hand: table, data and figure."""
    studies = {}
    for shot in SHOTS:
        source = model_at_hand(place, shot)
        saved = load_model(source)
        protocol = replace(named_protocol("paper", shot), episodes=1000, seed=seed)
        evaluator = Evaluator(saved, training_dataset(saved, protocol.split)).tasks(protocol)
        with progress_bar(f"sampling study, {shot}-shot") as progress:
            name = source.parent.name if source.name == "model" else f"shipped {source.name}"
            studies[str(shot)] = {"model": name} | sampling_study(evaluator, protocol, progress=progress)
    return sampling_text(studies), sampling_figure(*studies.values())


def model_at_hand(place: Workplace, shot: Shot) -> Path:
    """The paper's SC-AT-TEN if it was trained for the shot (Table 2), else SAMOVAR-base (Table 1), else the shipped."""
    conditioned = [
        cell for cell in table2("cpu") if (cell.row, cell.column) == ("SC + AT + TEN", f"samovar {shot}-shot")
    ]
    for cell in (*conditioned, conv_cell("samovar", shot)):
        run = place.runs / cell.name
        if (run / "model" / "config.json").exists():
            return locate_model(run)
    return locate_model("cifar_fs")


def sampling_text(studies: dict[str, dict[str, Any]]) -> Written:
    """A row for each shot."""
    lines = ["# sampling (cpu scale)", "", CPU_LABEL, "", "1000 tasks, ten repeats with fresh noise.", ""]
    columns = "shot | model | at the mean | 1 sample | 1000 samples | gain of 1000 | paper's gain | as good as 1000"
    lines += [f"| {columns} |", "|---" * 8 + "|"]
    for shot, study in studies.items():
        plain = {row["samples"]: np.mean(row["accuracy"]) for row in study["results"] if row["kind"] == "plain"}
        mean = study["mean_classifier"]["accuracy"]
        ours = f"{100 * mean:.2f} | {100 * plain[1]:.2f} | {100 * plain[1000]:.2f} | {100 * (plain[1000] - mean):+.2f}"
        equal = f"{study['quasi_equal_to_1000']} quasi-random"
        lines.append(f"| {shot} | {study['model']} | {ours} | +{PUBLISHED_GAIN[int(shot)]} | {equal} |")
    return Written({"format": 1, "name": "sampling", "studies": studies}, "\n".join(lines) + "\n")
