"""Omniglot, the cheap real benchmark: SAMOVAR-SC and VERSA, beside what VERSA reports.

Both are trained once, on 20-way 1-shot tasks, and measured on tasks of four shapes: inductively
with 15 queries of each class, and with as many queries as shots, which is VERSA's protocol. VERSA
has its linear classifier, ours the scaled cosine of the paper (SC); all else is the same.
"""

from dataclasses import replace
from typing import Any

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from samovar.evaluation.metrics import Estimate
from samovar.experiments.cell import Cell, Scale
from samovar.experiments.evidence import Evidence
from samovar.experiments.experiment import Experiment, Measurements, ResultTable
from samovar.experiments.figures import Rows, column, draw_rings, percent_interval
from samovar.experiments.markdown import (
    SIGN_NOTE,
    calibration,
    joined,
    percent,
    table_head,
    table_row,
)
from samovar.reporting.figures.style import BLUE, GREEN, png
from samovar.settings.paper import VERSA_OMNIGLOT, OmniglotAccuracy
from samovar.settings.presets import PRESETS
from samovar.settings.tasks import Protocol
from samovar.settings.training import TrainSettings

INDUCTIVE = "inductive"
AS_VERSA = "as many queries as shots"
"""Keys of the two protocols in the JSON file."""


def inductive_protocol(way: int, shot: int) -> Protocol:
    """Return our protocol; a thousand 20-way tasks have 300,000 queries, which are enough."""
    return Protocol(way, shot, 15, episodes=5000 if way == 5 else 1000)


def versa_protocol(way: int, shot: int) -> Protocol:
    """Return VERSA's protocol."""
    return Protocol(way, shot, shot, episodes=600)


def cells(_scale: Scale) -> list[Cell]:
    """Return SAMOVAR-SC and VERSA, each measured on four shapes under two protocols."""
    preset = PRESETS["omniglot-20way-1shot"]
    # The scaled cosine is the paper's addition; VERSA as published has the linear classifier.
    versa = replace(preset.settings.model, method="versa", classifier="linear")
    return [
        _cell("samovar-sc", preset.settings),
        _cell("versa", replace(preset.settings, model=versa)),
    ]


def _cell(method: str, settings: TrainSettings) -> Cell:
    preset_name = "omniglot-20way-1shot"
    inductive = []
    as_versa = []
    for reported in VERSA_OMNIGLOT:
        inductive.append(inductive_protocol(reported.way, reported.shot))
        as_versa.append(versa_protocol(reported.way, reported.shot))
    return Cell(
        name=f"{preset_name}-{method}",
        row=method,
        column="5-way 1-shot",
        settings=settings,
        protocol=inductive[0],
        preset=preset_name,
        other_protocols=(*inductive[1:], *as_versa),
    )


def table(measurements: Measurements) -> ResultTable:
    """Return both methods under both protocols, beside what VERSA reports."""
    results = []
    for reported in VERSA_OMNIGLOT:
        results += [_result(evidence, reported) for evidence in measurements.evidence]
    lines = [
        "# omniglot (cpu scale)",
        "",
        "Trained on 20-way 1-shot tasks, measured on test characters with running norm.",
        "",
    ]
    lines += table_head(
        [
            "",
            "ours",
            "15 queries per class, 5000 tasks (20-way: 1000)",
            "ECE",
            "queries = shots, 600 tasks",
            "VERSA reports",
        ]
    )
    lines += [_row(result) for result in results]
    lines += [
        "",
        "VERSA's own accuracies are transductive (batch norm by the test set itself), "
        "each of a model trained for that shape.",
        "",
        SIGN_NOTE,
    ]
    data = {"format": 1, "name": "omniglot", "scale": "cpu", "results": results}
    return ResultTable(data, joined(lines))


def _result(evidence: Evidence, reported: OmniglotAccuracy) -> dict[str, Any]:
    way = reported.way
    shot = reported.shot
    return {
        "way": way,
        "shot": shot,
        "method": evidence.cell.row,
        "reported_by_versa": reported.accuracy / 100,
        "confirmed": reported.confirmed,
        INDUCTIVE: _measured(evidence, inductive_protocol(way, shot)),
        AS_VERSA: _measured(evidence, versa_protocol(way, shot)),
    }


def _measured(evidence: Evidence, protocol: Protocol) -> dict[str, float | None] | None:
    if not evidence.is_measured:
        return None
    metrics = evidence.summary(protocol).sampled
    return metrics.accuracy.to_json() | {"ece": metrics.ece, "gap": metrics.gap}


def _row(result: dict[str, Any]) -> str:
    ece = ""
    if result[INDUCTIVE] is not None:
        ece = calibration(result[INDUCTIVE]["ece"], result[INDUCTIVE]["gap"])
    reported = f"{100 * result['reported_by_versa']:.2f}"
    if not result["confirmed"]:
        reported += " (unconfirmed)"
    return table_row(
        [
            f"{result['way']}-way {result['shot']}-shot",
            result["method"],
            _accuracy(result[INDUCTIVE]),
            ece,
            _accuracy(result[AS_VERSA]),
            reported,
        ]
    )


def _accuracy(measured: dict[str, Any] | None) -> str:
    if measured is None:
        return "ready to run"
    return percent(Estimate(measured["mean"], measured["ci95"]), bold=True)


def figure(data: dict[str, Any]) -> bytes:
    """Draw ours under both protocols, and what VERSA reports as rings."""
    picture = Figure(figsize=(7, 4), layout="constrained")
    panel = picture.subplots()
    results = data["results"]
    draw_rings(panel, column(results, "reported_by_versa", 100), range(len(results)))
    _draw_protocol(panel, results, INDUCTIVE, -0.12, BLUE)
    _draw_protocol(panel, results, AS_VERSA, 0.12, GREEN)
    names = [f"{result['way']}-way {result['shot']}-shot {result['method']}" for result in results]
    panel.set_yticks(range(len(results)), names)
    panel.invert_yaxis()
    panel.set(
        xlabel="accuracy, %",
        title="Omniglot (cpu scale): ours filled, as VERSA reports it as rings",
    )
    panel.legend(frameon=False, fontsize=8)
    return png(picture)


def _draw_protocol(panel: Axes, results: Rows, key: str, shift: float, color: str) -> None:
    """Draw the accuracies under one protocol, a little above or below the line of each result."""
    means = []
    intervals = []
    heights = []
    for position, result in enumerate(results):
        # The shift keeps the two protocols of one result apart.
        if result[key] is not None:
            means.append(100 * result[key]["mean"])
            intervals.append(percent_interval(result[key]))
            heights.append(position + shift)
    panel.errorbar(means, heights, xerr=intervals, fmt="o", color=color, capsize=3, label=key)


EXPERIMENT = Experiment(name="omniglot", cells=cells, table=table, figure=figure, beyond_paper=True)
