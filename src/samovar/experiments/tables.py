"""From kept evidence to NAME.json and NAME.md: our figures beside the published ones, misses shown as misses."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from samovar.evaluation.comparison import compare
from samovar.evaluation.metrics import mean_with_interval
from samovar.evaluation.stored_evaluation import StoredEvaluation
from samovar.experiments.cells import EXPERIMENTS, SCALES, Cell, Scale
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
    lines += grid(
        rows, columns, {(each["row"], each["column"]): _cell_text(each) for each in found}
    )
    if found:
        lines += [
            "",
            "± is the 95 % interval over tasks, for the mean over training seeds where there are several.",
        ]
    if differences:
        lines += [
            "",
            "Paired differences on the same tasks, in points of accuracy (95 % interval over tasks):",
            "",
        ]
        lines += [_difference_text(each) for each in differences]
    return Written(data, "\n".join(lines) + "\n")


def _entry(
    row: str, column: str, group: list[Cell], place: Workplace, scale: Scale
) -> dict[str, Any]:
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
    tasks = [each.metrics["accuracy"] for each in _measured(measured, place)]
    seeds = [float(each.mean()) for each in tasks]
    ours = mean_with_interval(np.mean(tasks, axis=0))
    entry["protocol"] = summaries[0]["protocol"]["text"]
    entry["ours"] = ours | {
        "seeds": seeds,
        "std_over_seeds": float(np.std(seeds, ddof=1)) if len(seeds) > 1 else None,
    }
    if inductive := _with_running_norm(measured, place):
        entry["running_norm"] = float(np.mean(inductive))
    if scale == "paper" and published is not None:
        short = entry["published"] - ours["mean"]
        entry["verdict"] = (
            "miss" if short > np.hypot(entry["published_ci95"], ours["ci95"]) else "reached"
        )
    for figure, key in (("nll", "mean"), ("ece", "value")):
        entry[figure] = float(np.mean([s[figure][key] for s in summaries]))
        entry[f"mean_classifier_{figure}"] = float(
            np.mean([s["mean_classifier"][figure][key] for s in summaries])
        )
    entry["mean_classifier"] = float(
        np.mean([s["mean_classifier"]["accuracy"]["mean"] for s in summaries])
    )
    return entry


def _with_running_norm(cells: list[Cell], place: Workplace) -> list[float]:
    """Accuracies with running averages of cells that are measured so beside their own, transductive norm."""
    beside = [
        (cell, protocol) for cell in cells for protocol in cell.also if protocol.norm == "running"
    ]
    summaries = [stored_summary(cell, place, protocol) for cell, protocol in beside]
    return [each["accuracy"]["mean"] for each in summaries if each is not None]


def _cell_text(entry: dict[str, Any]) -> str:
    published = [] if entry["published"] is None else [f"paper {100 * entry['published']:.1f}"]
    ours = entry["ours"]
    if ours is None:
        states = sorted(set(entry["runs"].values()))
        return f"ready to run: {', '.join(states)}" + (f" ({published[0]})" if published else "")
    values = ", ".join(f"{100 * each:.1f}" for each in ours["seeds"])
    seeds = [f"seeds {values}"] if len(ours["seeds"]) > 1 else []
    inductive = (
        [f"running norm {100 * entry['running_norm']:.1f}"] if "running_norm" in entry else []
    )
    notes = [
        *seeds,
        *inductive,
        *published,
        *(["**miss**"] if entry.get("verdict") == "miss" else []),
    ]
    return f"**{100 * ours['mean']:.2f}** ± {100 * ours['ci95']:.2f}" + (
        f" ({'; '.join(notes)})" if notes else ""
    )


def grid(rows: list[str], columns: list[str], cells: dict[tuple[str, str], str]) -> list[str]:
    """A table in Markdown."""
    lines = ["| | " + " | ".join(columns) + " |", "|---" * (len(columns) + 1) + "|"]
    return lines + [
        f"| {row} | " + " | ".join(cells.get((row, column), "") for column in columns) + " |"
        for row in rows
    ]


def paired_differences(
    cells: list[Cell], place: Workplace, figure: str = "accuracy"
) -> list[dict[str, Any]]:
    """The leading method of a group of cells against each other, on the seeds that both have; by one figure."""
    found = []
    for group in dict.fromkeys(cell.group for cell in cells if cell.group):
        members = [
            cell for cell in cells if cell.group == group and state_of(cell, place) == "measured"
        ]
        for lead in LEADING:
            ours = {cell.settings.seed: cell for cell in members if cell.method == lead}
            for method in dict.fromkeys(cell.method for cell in members if cell.method != lead):
                others = {cell.settings.seed: cell for cell in members if cell.method == method}
                if seeds := sorted(ours.keys() & others.keys()):
                    where = {"group": group, "first": lead, "second": method}
                    found.append(
                        where
                        | _difference(
                            [ours[s] for s in seeds], [others[s] for s in seeds], place, figure
                        )
                    )
    return found


def _difference(
    ours: list[Cell], others: list[Cell], place: Workplace, figure: str
) -> dict[str, Any]:
    compared = compare(_measured(ours, place), _measured(others, place)).to_json()
    found = {"seeds": len(ours), "over_seeds": compared["seeds"][figure]["difference"]}
    found |= compared["paired"][figure]
    first, second = ours[0].published, others[0].published
    if first is None or second is None or figure != "accuracy":
        return found | {"published": None, "verdict": None}
    published, unsure = (
        (first.accuracy - second.accuracy) / 100,
        np.hypot(first.ci95, second.ci95) / 100,
    )
    clear = abs(published) > unsure
    verdict = _verdict(found, published) if clear else "no clear difference in the paper"
    return found | {"published": published, "verdict": verdict}


def _measured(cells: list[Cell], place: Workplace) -> list[StoredEvaluation]:
    return [StoredEvaluation.read(place.evidence(cell), "predictive") for cell in cells]


def _verdict(found: dict[str, Any], published: float) -> str:
    """On these models by the interval over tasks; on the methods only by that over training seeds."""
    if abs(found["mean"]) <= found["ci95"]:
        return "miss: no clear difference here"
    if found["mean"] * published < 0:
        return "miss: the other way round"
    over = found["over_seeds"]
    if over is None:
        return "as in the paper, for these models"
    return (
        "as in the paper"
        if abs(over["mean"]) > over["ci95"]
        else "as in the paper, but not clear over seeds"
    )


def _difference_text(each: dict[str, Any]) -> str:
    notes = [f"training seeds of each: {each['seeds']}"]
    if (over := each["over_seeds"]) is not None:
        notes.append(f"over seeds {100 * over['mean']:+.2f} ± {100 * over['ci95']:.2f}")
    if each["published"] is not None:
        notes.append(f"paper {100 * each['published']:+.1f}, {each['verdict']}")
    ours = f"{100 * each['mean']:+.2f} ± {100 * each['ci95']:.2f}"
    return f"- {each['group']}: {each['first']} - {each['second']}: {ours} ({'; '.join(notes)})"


def coverage(place: Workplace) -> Written:
    """Every trained cell of the paper's tables, and its figures: measured, at which scale, or ready to run."""
    lines = [
        "# Every cell of the paper",
        "",
        "| | cell | published | at the paper's scale | at cpu scale |",
    ]
    lines.append("|---|---|---|---|---|")
    found = []
    for name in (f"table{number}" for number in range(1, 6)):
        small = EXPERIMENTS[name]("cpu")
        for cell in EXPERIMENTS[name]("paper"):
            alike = [
                c
                for c in small
                if (c.row, c.column) == (cell.row, cell.column) and not c.only_ready
            ]
            states = {"paper": _measured_share([cell], place), "cpu": _measured_share(alike, place)}
            published = (
                ""
                if cell.published is None
                else f"{cell.published.accuracy} ± {cell.published.ci95}"
            )
            lines.append(
                f"| {name} | {cell.row}, {cell.column} | {published} | {states['paper']} | {states['cpu']} |"
            )
            found.append({"table": name, "row": cell.row, "column": cell.column} | states)
    for name in ("sampling", "beta", "collapse"):
        states = {scale: _measured_share(EXPERIMENTS[name](scale), place) for scale in SCALES}
        lines.append(f"| {name} | figure | | {states['paper']} | {states['cpu']} |")
        found.append({"table": name, "row": "figure", "column": ""} | states)
    lines += [
        "",
        "The synthetic study is the paper's own at any scale: `samovar reproduce synthetic` takes minutes.",
    ]
    return Written({"format": 1, "name": "coverage", "cells": found}, "\n".join(lines) + "\n")


def _measured_share(cells: list[Cell], place: Workplace) -> str:
    """How many of the runs have been measured, in words."""
    measured = sum(state_of(cell, place) == "measured" for cell in cells)
    if not cells:
        return "none"
    return f"measured, {measured} of {len(cells)} runs" if measured else "ready to run"
