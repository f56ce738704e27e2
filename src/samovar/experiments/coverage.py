"""`samovar reproduce coverage`: which cells of the paper have been measured, and at which scale."""

from dataclasses import asdict, dataclass

from samovar.experiments.cell import SCALES, Cell
from samovar.experiments.evidence import Workplace, gather_evidence
from samovar.experiments.experiment import Experiment, ResultTable
from samovar.experiments.markdown import joined, table_head, table_row
from samovar.experiments.registry import find_experiment

TABLES = ("table1", "table2", "table3", "table4", "table5")
FIGURES = ("sampling", "beta", "collapse")
"""The paper's tables and figures that need trained runs; their number will not grow."""


@dataclass(frozen=True)
class Covered:
    """A cell of the paper, or a whole figure, and what has been measured of it."""

    table: str
    row: str
    column: str
    paper: str
    cpu: str


def coverage(place: Workplace) -> ResultTable:
    """Return what has been measured of the paper, and what is ready to run."""
    lines = ["# Every cell of the paper", ""]
    lines += table_head(["", "cell", "published", "at the paper's scale", "at cpu scale"])
    covered = []
    for name in TABLES:
        experiment = find_experiment(name)
        for cell in experiment.cells("paper"):
            entry = _covered_cell(experiment, cell, place)
            covered.append(entry)
            label = f"{cell.row}, {cell.column}"
            lines.append(table_row([name, label, _published(cell), entry.paper, entry.cpu]))
    for name in FIGURES:
        entry = _covered_figure(find_experiment(name), place)
        covered.append(entry)
        lines.append(table_row([name, "figure", "", entry.paper, entry.cpu]))
    lines += [
        "",
        "The synthetic study is the paper's own at any scale: "
        "`samovar reproduce synthetic` takes minutes.",
    ]
    data = {"format": 1, "name": "coverage", "cells": [asdict(entry) for entry in covered]}
    return ResultTable(data, joined(lines))


def _covered_cell(experiment: Experiment, cell: Cell, place: Workplace) -> Covered:
    # At CPU scale there are several training seeds, and rows that the paper does not have.
    alike = []
    for candidate in experiment.cells("cpu"):
        same_place = (candidate.row, candidate.column) == (cell.row, cell.column)
        if same_place and not candidate.needs_gpu:
            alike.append(candidate)
    return Covered(
        table=experiment.name,
        row=cell.row,
        column=cell.column,
        paper=measured_share([cell], place),
        cpu=measured_share(alike, place),
    )


def _covered_figure(experiment: Experiment, place: Workplace) -> Covered:
    shares = {scale: measured_share(experiment.cells(scale), place) for scale in SCALES}
    return Covered(experiment.name, "figure", "", paper=shares["paper"], cpu=shares["cpu"])


def _published(cell: Cell) -> str:
    if cell.published is None:
        return ""
    return f"{cell.published.accuracy} ± {cell.published.ci95}"


def measured_share(cells: list[Cell], place: Workplace) -> str:
    """Return in words how many of the runs have been measured."""
    if not cells:
        return "none"
    measured = sum(evidence.is_measured for evidence in gather_evidence(cells, place))
    if measured == 0:
        return "ready to run"
    return f"measured, {measured} of {len(cells)} runs"
