"""Tables of accuracies: ours beside the published ones, and the paired differences between methods.

Tables 1 to 5 and the longer training are such tables, and the calibration table is made from the
same entries.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np

from samovar.evaluation.metrics import Estimate
from samovar.experiments.calibration_table import calibration_lines
from samovar.experiments.evidence import Evidence, State
from samovar.experiments.experiment import Measurements, ResultTable
from samovar.experiments.markdown import grid, heading, joined, percent
from samovar.experiments.paired import paired_differences
from samovar.experiments.records import CellSummary, SeedMetrics
from samovar.settings.paper import Published


@dataclass(frozen=True)
class OurAccuracy:
    """What we measured for an entry, as a mean over its training seeds."""

    protocol: str
    over_tasks: Estimate
    seeds: list[float]
    """The accuracy of each training seed."""
    summaries: list[CellSummary]
    running_norm: float | None
    """Accuracy with running averages, of a model whose own batch norm is transductive."""

    def to_json(self) -> dict[str, Any]:
        """Return the accuracy as a JSON file holds it, under "ours"."""
        deviation = None
        if len(self.seeds) > 1:
            deviation = float(np.std(self.seeds, ddof=1))
        return self.over_tasks.to_json() | {"seeds": self.seeds, "std_over_seeds": deviation}

    def metrics(self) -> dict[str, float | None]:
        """Return NLL and calibration of both predictors, and the accuracy of that at the mean.

        The intervals of the calibration error are over training seeds, where there are several.
        """
        sampled = SeedMetrics.of([summary.sampled for summary in self.summaries])
        at_mean = SeedMetrics.of([summary.at_mean for summary in self.summaries])
        metrics = {
            "nll": sampled.nll.mean,
            "mean_classifier_nll": at_mean.nll.mean,
            "ece": sampled.ece.mean,
            "ece_ci95": sampled.ece.ci95,
            "gap": sampled.gap.mean,
            "mean_classifier_ece": at_mean.ece.mean,
            "mean_classifier_ece_ci95": at_mean.ece.ci95,
            "mean_classifier_gap": at_mean.gap.mean,
            "mean_classifier": at_mean.accuracy.mean,
        }
        return metrics | self._tempered_metrics()

    def _tempered_metrics(self) -> dict[str, float | None]:
        """Return NLL and calibration with a fitted temperature; none if it was not measured."""
        seeds = [summary.tempered for summary in self.summaries if summary.tempered is not None]
        if len(seeds) < len(self.summaries):
            return {}
        tempered = SeedMetrics.of(seeds)
        return {
            "tempered_nll": tempered.nll.mean,
            "tempered_ece": tempered.ece.mean,
            "tempered_ece_ci95": tempered.ece.ci95,
            "tempered_gap": tempered.gap.mean,
        }


@dataclass(frozen=True)
class AccuracyEntry:
    """One entry of a table: the training seeds of one model, beside the published accuracy."""

    row: str
    column: str
    runs: dict[str, State]
    published: Published | None
    ours: OurAccuracy | None
    verdict: str | None
    """Whether the published accuracy was reached; judged at the paper's scale only."""
    comparable: bool
    """Whether the published accuracy is of the same data, network and budget."""

    def to_json(self) -> dict[str, Any]:
        """Return the content of a JSON file."""
        content: dict[str, Any] = {
            "row": self.row,
            "column": self.column,
            "runs": self.runs,
            "published": None,
            "published_ci95": None,
            "ours": None,
        }
        if self.published is not None:
            content["published"] = self.published.accuracy / 100
            content["published_ci95"] = self.published.ci95 / 100
        if self.ours is None:
            return content
        content["protocol"] = self.ours.protocol
        content["ours"] = self.ours.to_json()
        if self.ours.running_norm is not None:
            content["running_norm"] = self.ours.running_norm
        if self.verdict is not None:
            content["verdict"] = self.verdict
        return content | self.ours.metrics()

    def text(self) -> str:
        """Return the entry as the table prints it."""
        notes = []
        if self.ours is None:
            text = _progress(self.runs)
        else:
            text = percent(self.ours.over_tasks, bold=True)
            notes += self._notes_on(self.ours)
        if self.published is not None and self.comparable:
            notes.append(f"paper {self.published.accuracy:.1f}")
        if self.verdict == "miss":
            notes.append("**miss**")
        if notes:
            text += f" ({'; '.join(notes)})"
        return text

    @staticmethod
    def _notes_on(ours: OurAccuracy) -> list[str]:
        notes = []
        if len(ours.seeds) > 1:
            seeds = ", ".join(f"{100 * accuracy:.1f}" for accuracy in ours.seeds)
            notes.append(f"seeds {seeds}")
        if ours.running_norm is not None:
            notes.append(f"running norm {100 * ours.running_norm:.1f}")
        return notes


def _progress(runs: dict[str, State]) -> str:
    """Return in words how far an entry is that has not been measured."""
    if "trained" in runs.values():
        return "trained, not measured"
    if "begun" in runs.values():
        return "training not finished"
    if "diverged" in runs.values():
        return "diverged"
    return "ready to run"


def accuracy_entries(measurements: Measurements) -> list[AccuracyEntry]:
    """Return the entries of a table, row by row; cells of one row and column are training seeds."""
    judged = measurements.scale == "paper"
    columns: list[str] = []
    rows: dict[str, dict[str, list[Evidence]]] = {}
    for evidence in measurements.evidence:
        cell = evidence.cell
        if cell.column not in columns:
            columns.append(cell.column)
        rows.setdefault(cell.row, {}).setdefault(cell.column, []).append(evidence)
    entries = []
    for row in rows.values():
        # A row may begin with a later column than the first row does.
        for column in columns:
            if column in row:
                entries.append(_entry(row[column], judged=judged))
    return entries


def _entry(seeds: list[Evidence], *, judged: bool) -> AccuracyEntry:
    first = seeds[0].cell
    measured = [evidence for evidence in seeds if evidence.is_measured]
    ours = None
    verdict = None
    if measured:
        ours = _our_accuracy(measured)
    if ours is not None and judged and first.published is not None:
        verdict = _verdict(ours.over_tasks, first.published)
    return AccuracyEntry(
        row=first.row,
        column=first.column,
        runs={evidence.cell.name: evidence.state for evidence in seeds},
        published=first.published,
        ours=ours,
        verdict=verdict,
        comparable=judged,
    )


def _our_accuracy(measured: list[Evidence]) -> OurAccuracy:
    tasks = []
    seeds = []
    summaries = []
    for evidence in measured:
        tasks.append(evidence.task_accuracies)
        seeds.append(float(evidence.task_accuracies.mean()))
        summaries.append(evidence.summary())
    return OurAccuracy(
        protocol=summaries[0].protocol,
        # All seeds are measured on the same tasks: average them first, then take the interval.
        over_tasks=Estimate.of(np.mean(tasks, axis=0)),
        seeds=seeds,
        summaries=summaries,
        running_norm=_running_norm(measured),
    )


def _running_norm(measured: list[Evidence]) -> float | None:
    """Return the accuracy with running averages, if the cells are measured so too."""
    accuracies = []
    for evidence in measured:
        for protocol in evidence.cell.other_protocols:
            if protocol.norm == "running":
                accuracies.append(evidence.summary(protocol).sampled.accuracy.mean)
    if not accuracies:
        return None
    return float(np.mean(accuracies))


def _verdict(ours: Estimate, published: Published) -> str:
    """Return "miss" if we are below the published accuracy by more than both intervals allow."""
    shortfall = published.accuracy / 100 - ours.mean
    # Both are means over independent tasks, so their half-widths add up as the legs of a triangle.
    if shortfall > np.hypot(published.ci95 / 100, ours.ci95 or 0):
        return "miss"
    return "reached"


def accuracy_table(name: str, measurements: Measurements) -> ResultTable:
    """Return a table of accuracies, with the paired differences below it."""
    entries = accuracy_entries(measurements)
    differences = paired_differences(measurements.evidence)
    cells = [entry.to_json() for entry in entries]
    data = {
        "format": 1,
        "name": name,
        "scale": measurements.scale,
        "cells": cells,
        "paired": [difference.to_json() for difference in differences],
    }
    lines = heading(name, measurements.scale, measurements.cells)
    lines += _grid_of(entries, {_place(entry): entry.text() for entry in entries})
    lines += [
        "",
        "± is the 95 % interval over tasks, of the mean over training seeds if there are several.",
    ]
    if differences:
        lines += [
            "",
            "Paired differences on the same tasks, in points of accuracy "
            "(95 % interval over tasks):",
            "",
        ]
        lines += [difference.text() for difference in differences]
    lines += _published_elsewhere(entries)
    if any(entry.ours is not None for entry in entries):
        lines += ["", *calibration_lines(cells)]
    return ResultTable(data, joined(lines))


def _published_elsewhere(entries: list[AccuracyEntry]) -> list[str]:
    """Return a table of published accuracies that are not comparable with ours."""
    published = []
    texts = {}
    for entry in entries:
        if entry.published is not None and not entry.comparable:
            published.append(entry)
            texts[_place(entry)] = f"{entry.published.accuracy:.1f} ± {entry.published.ci95:.1f}"
    if not published:
        return []
    note = (
        "Published, with the paper's own networks, budgets and data (miniImageNet in Tables 1 to "
        "3). These are not accuracies that ours could reach or miss:"
    )
    return ["", note, "", *_grid_of(published, texts)]


def _place(entry: AccuracyEntry) -> tuple[str, str]:
    return entry.row, entry.column


def _grid_of(entries: list[AccuracyEntry], texts: dict[tuple[str, str], str]) -> list[str]:
    rows: list[str] = []
    columns: list[str] = []
    for entry in entries:
        if entry.row not in rows:
            rows.append(entry.row)
        if entry.column not in columns:
            columns.append(entry.column)
    return grid(rows, columns, texts)
