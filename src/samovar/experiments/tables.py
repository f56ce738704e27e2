"""From kept evidence to NAME.json and NAME.md: our figures beside the published ones, misses shown as misses."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from samovar.calibration import mean_with_interval
from samovar.comparison import Measured, compare
from samovar.experiments.cells import EXPERIMENTS, Cell, Scale
from samovar.experiments.reproduce import Workplace, state_of, stored_summary

CPU_LABEL = (
    "cpu scale: the same comparison on smaller data, networks and budgets than the paper's. The published figures, of "
    "the paper's own scale, are for orientation."
)
READY_LABEL = "The paper's recipe, for GPUs: `samovar reproduce` trains none of it at cpu scale."
LEADING = ("samovar", "augmented")
"""Methods that are compared with the others of their group."""


@dataclass(frozen=True)
class Written:
    """A table as data and as text."""

    data: dict[str, Any]
    text: str


def title(name: str, scale: Scale, cells: list[Cell]) -> list[str]:
    """First lines of a text."""
    label = READY_LABEL if all(cell.only_ready for cell in cells) else CPU_LABEL
    return [f"# {name} ({scale} scale)", "", *([label, ""] if scale == "cpu" else [])]


def table(name: str, scale: Scale, cells: list[Cell], place: Workplace) -> Written:
    """Rows and columns of a table, a mean over training seeds where there are several; and paired differences."""
    rows = list(dict.fromkeys(cell.row for cell in cells))
    columns = list(dict.fromkeys(cell.column for cell in cells))
    found: list[dict[str, Any]] = []
    for row in rows:
        for column in columns:
            group = [cell for cell in cells if (cell.row, cell.column) == (row, column)]
            if group:
                found.append(_entry(row, column, group, place, scale))
    differences = paired_differences(cells, place)
    data = {"format": 1, "name": name, "scale": scale, "cells": found, "paired": differences}
    lines = title(name, scale, cells)
    lines += grid(rows, columns, {(each["row"], each["column"]): _cell_text(each) for each in found})
    if found:
        lines += ["", "± is the 95 % interval over tasks, for the mean over training seeds where there are several."]
    if differences:
        lines += ["", "Paired differences on the same tasks, in points of accuracy (95 % interval over tasks):", ""]
        lines += [_difference_text(each) for each in differences]
    return Written(data, "\n".join(lines) + "\n")


def _entry(row: str, column: str, group: list[Cell], place: Workplace, scale: Scale) -> dict[str, Any]:
    measured = [cell for cell in group if state_of(cell, place) == "measured"]
    published = group[0].published
    entry: dict[str, Any] = {
        "row": row,
        "column": column,
        "runs": {cell.name: state_of(cell, place) for cell in group},
        "published": None if published is None else published.accuracy / 100,
        "published_ci95": None if published is None else published.ci95 / 100,
        "ours": None,
    }
    if not measured:
        return entry
    summaries = [each for cell in measured if (each := stored_summary(cell, place)) is not None]
    tasks = [Measured.read(place.evidence(cell), "predictive").figures["accuracy"] for cell in measured]
    seeds = [float(each.mean()) for each in tasks]
    ours = mean_with_interval(np.mean(tasks, axis=0))
    entry["protocol"] = summaries[0]["protocol"]["text"]
    entry["ours"] = ours | {"seeds": seeds, "std_over_seeds": float(np.std(seeds, ddof=1)) if len(seeds) > 1 else None}
    if scale == "paper" and published is not None:
        short = entry["published"] - entry["published_ci95"] - ours["mean"] - ours["ci95"]
        entry["verdict"] = "miss" if short > 0 else "reached"
    for figure, key in (("nll", "mean"), ("ece", "value")):
        entry[figure] = float(np.mean([s[figure][key] for s in summaries]))
        entry[f"mean_classifier_{figure}"] = float(np.mean([s["mean_classifier"][figure][key] for s in summaries]))
    entry["mean_classifier"] = float(np.mean([s["mean_classifier"]["accuracy"]["mean"] for s in summaries]))
    return entry


def _cell_text(entry: dict[str, Any]) -> str:
    published = [] if entry["published"] is None else [f"paper {100 * entry['published']:.1f}"]
    ours = entry["ours"]
    if ours is None:
        states = sorted(set(entry["runs"].values()))
        return f"ready to run: {', '.join(states)}" + (f" ({published[0]})" if published else "")
    values = ", ".join(f"{100 * each:.1f}" for each in ours["seeds"])
    seeds = [f"seeds {values}"] if len(ours["seeds"]) > 1 else []
    notes = [*seeds, *published, *(["**miss**"] if entry.get("verdict") == "miss" else [])]
    return f"**{100 * ours['mean']:.2f}** ± {100 * ours['ci95']:.2f}" + (f" ({'; '.join(notes)})" if notes else "")


def grid(rows: list[str], columns: list[str], cells: dict[tuple[str, str], str]) -> list[str]:
    """A table in Markdown."""
    lines = ["| | " + " | ".join(columns) + " |", "|---" * (len(columns) + 1) + "|"]
    return lines + [
        f"| {row} | " + " | ".join(cells.get((row, column), "") for column in columns) + " |" for row in rows
    ]


def paired_differences(cells: list[Cell], place: Workplace) -> list[dict[str, Any]]:
    """The leading method of a group of cells against each other, on the seeds that both have."""
    found = []
    for group in dict.fromkeys(cell.group for cell in cells if cell.group):
        members = [cell for cell in cells if cell.group == group and state_of(cell, place) == "measured"]
        for lead in LEADING:
            ours = {cell.settings.seed: cell for cell in members if cell.method == lead}
            for method in dict.fromkeys(cell.method for cell in members if cell.method != lead):
                others = {cell.settings.seed: cell for cell in members if cell.method == method}
                if seeds := sorted(ours.keys() & others.keys()):
                    where = {"group": group, "first": lead, "second": method}
                    found.append(where | _difference([ours[s] for s in seeds], [others[s] for s in seeds], place))
    return found


def _difference(ours: list[Cell], others: list[Cell], place: Workplace) -> dict[str, Any]:
    groups = ([Measured.read(place.evidence(cell), "predictive") for cell in group] for group in (ours, others))
    compared = compare(*groups)
    found = {"seeds": len(ours), "over_seeds": compared["seeds"]["accuracy"]["difference"]}
    found |= compared["paired"]["accuracy"]
    first, second = ours[0].published, others[0].published
    if first is None or second is None:
        return found | {"published": None, "verdict": None}
    published, unsure = (first.accuracy - second.accuracy) / 100, np.hypot(first.ci95, second.ci95) / 100
    if abs(published) <= unsure:
        verdict = "no clear difference in the paper"
    elif abs(found["mean"]) <= found["ci95"]:
        verdict = "miss: no clear difference here"
    else:
        verdict = "as in the paper" if found["mean"] * published > 0 else "miss: the other way round"
    return found | {"published": published, "verdict": verdict}


def _difference_text(each: dict[str, Any]) -> str:
    notes = [f"training seeds of each: {each['seeds']}"]
    if (over := each["over_seeds"]) is not None:
        notes.append(f"over seeds {100 * over['mean']:+.2f} ± {100 * over['ci95']:.2f}")
    if each["published"] is not None:
        notes.append(f"paper {100 * each['published']:+.1f}, {each['verdict']}")
    ours = f"{100 * each['mean']:+.2f} ± {100 * each['ci95']:.2f}"
    return f"- {each['group']}: {each['first']} - {each['second']}: {ours} ({'; '.join(notes)})"


def coverage(place: Workplace) -> Written:
    """Every trained cell of the paper's tables: measured at its scale, measured at cpu scale, or ready to run."""
    lines = ["# Every cell of the paper", "", "| table | cell | published | at the paper's scale | at cpu scale |"]
    lines.append("|---|---|---|---|---|")
    found = []
    for name in (f"table{number}" for number in range(1, 6)):
        small = EXPERIMENTS[name]("cpu")
        for cell in EXPERIMENTS[name]("paper"):
            alike = [c for c in small if (c.row, c.column) == (cell.row, cell.column) and not c.only_ready]
            measured = sum(state_of(c, place) == "measured" for c in alike)
            count = f"measured, {measured} of {len(alike)} runs" if measured else "ready to run"
            states = {
                "paper": "measured" if state_of(cell, place) == "measured" else "ready to run",
                "cpu": count if alike else "none",
            }
            published = "" if cell.published is None else f"{cell.published.accuracy} ± {cell.published.ci95}"
            lines.append(f"| {name} | {cell.row}, {cell.column} | {published} | {states['paper']} | {states['cpu']} |")
            found.append({"table": name, "row": cell.row, "column": cell.column} | states)
    return Written({"format": 1, "name": "coverage", "cells": found}, "\n".join(lines) + "\n")
