"""The sampling figure: accuracy over the number of sampled classifiers."""

from dataclasses import replace
from typing import Any

import numpy as np

from samovar.evaluation.metrics import Estimate
from samovar.experiments.cell import Cell, Scale
from samovar.experiments.experiment import Experiment, Measurements, ResultTable
from samovar.experiments.markdown import heading, joined, points, table_head, table_row
from samovar.experiments.shared_cells import full_model_cell
from samovar.reporting.figures.evaluation import sampling_figure
from samovar.settings.paper import SAMPLING_GAIN, SHOTS
from samovar.settings.tasks import named_protocol

STUDY_TASKS = 1000
COUNTS = (1, 1000, 10_000)
"""Numbers of random samples that the table shows."""
COLUMNS = (
    "shot",
    "model",
    "at the mean",
    "1 sample",
    "1000 samples",
    "10,000",
    "gain of 10,000",
    "paper's gain",
    "equal to 1000",
)


def cells(scale: Scale) -> list[Cell]:
    """Return SC-AT-TEN of Table 2.

    SAMOVAR-base has no place here: with a linear classifier the logits are symmetric around those
    of the mean, and averaging gains next to nothing whatever the variance.
    """
    studied = []
    for shot in SHOTS:
        cell = full_model_cell(scale, shot)
        protocol = named_protocol("paper", cell.settings.episodes.shot)
        studied.append(replace(cell, study=replace(protocol, episodes=STUDY_TASKS)))
    return studied


def table(measurements: Measurements) -> ResultTable:
    """Return what averaging gains over the classifier at the mean, a row for each model."""
    studies = []
    for evidence in measurements.evidence:
        if evidence.study is not None:
            studies.append({"model": evidence.cell.name} | evidence.study)
    lines = heading("sampling", measurements.scale, measurements.cells)
    lines += [
        "1000 tasks, ten repeats with fresh noise. The paper's gain is that of 10,000 samples of "
        "SC-AT-TEN. The last column says how many samples are as exact as 1000 random ones.",
        "",
    ]
    lines += table_head(COLUMNS)
    lines += [_row(study) for study in studies]
    if not studies:
        lines += ["", "Nothing has been measured yet."]
    data = {"format": 3, "name": "sampling", "scale": measurements.scale, "studies": studies}
    return ResultTable(data, joined(lines))


def _row(study: dict[str, Any]) -> str:
    random_samples = {}
    for result in study["results"]:
        if result["kind"] == "plain":
            random_samples[result["samples"]] = result
    accuracies = [study["mean_classifier"]["accuracy"]]
    for count in COUNTS:
        accuracies.append(float(np.mean(random_samples[count]["accuracy"])))
    shot = study["protocol"]["shot"]
    equal = "none of those tried"
    if study["quasi_equal_to_1000"] is not None:
        equal = f"{study['quasi_equal_to_1000']} quasi-random"
    return table_row(
        [
            str(shot),
            study["model"],
            *[f"{100 * accuracy:.2f}" for accuracy in accuracies],
            points(Estimate(**random_samples[COUNTS[-1]]["gain"])),
            f"+{SAMPLING_GAIN[shot]}",
            equal,
        ]
    )


def figure(data: dict[str, Any]) -> bytes:
    """Draw accuracy and error of the probabilities over the number of samples."""
    return sampling_figure(*data["studies"])


EXPERIMENT = Experiment(name="sampling", cells=cells, table=table, figure=figure)
