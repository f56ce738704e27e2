"""From kept evidence to NAME.json and NAME.md: our figures beside the published ones, misses shown as misses."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from samovar.comparison import Measured, compare
from samovar.config import Protocol
from samovar.experiments.cells import OMNIGLOT_SHAPES, VERSA_OMNIGLOT, Cell, Scale
from samovar.experiments.reproduce import Workplace, state_of, stored_summary

CPU_LABEL = (
    "cpu scale: the same comparison on smaller data, networks and budgets than the paper's. The published figures, of "
    "the paper's own scale, are for orientation."
)
COLLAPSED = 0.001
PUBLISHED_COLLAPSE = {5: 4000, 1: 3000}
"""The step at which VERSA's largest weight variance is first below 0.001 in the paper's figure."""


@dataclass(frozen=True)
class Written:
    """A table as data and as text."""

    data: dict[str, Any]
    text: str


def table(name: str, scale: Scale, cells: list[Cell], place: Workplace) -> Written:
    """Rows and columns of a table, a mean over training seeds where there are several; and paired differences."""
    rows = list(dict.fromkeys(cell.row for cell in cells))
    columns = list(dict.fromkeys(cell.column for cell in cells))
    found: list[dict[str, Any]] = []
    for row in rows:
        for column in columns:
            group = [cell for cell in cells if (cell.row, cell.column) == (row, column)]
            if group:
                found.append(_entry(row, column, group, place))
    differences = _differences(cells, columns, place)
    data = {"format": 1, "name": name, "scale": scale, "cells": found, "paired": differences}
    lines = [f"# {name} ({scale} scale)", "", *([CPU_LABEL, ""] if scale == "cpu" else [])]
    lines += _grid(rows, columns, {(each["row"], each["column"]): _cell_text(each) for each in found})
    if differences:
        lines += ["", "Paired differences on the same tasks, in points of accuracy (95 % interval over tasks):", ""]
        lines += [
            f"- {each['column']}: {each['first']} - {each['second']}: {100 * each['mean']:+.2f} ± "
            f"{100 * each['ci95']:.2f} (training seeds of each: {each['seeds']}{_over_seeds(each)})"
            for each in differences
        ]
    return Written(data, "\n".join(lines) + "\n")


def _over_seeds(each: dict[str, Any]) -> str:
    over = each["over_seeds"]
    return "" if over is None else f"; over seeds {100 * over['mean']:+.2f} ± {100 * over['ci95']:.2f}"


def _entry(row: str, column: str, group: list[Cell], place: Workplace) -> dict[str, Any]:
    summaries = [s for s in (stored_summary(cell, place) for cell in group) if s is not None]
    entry: dict[str, Any] = {
        "row": row,
        "column": column,
        "runs": {cell.name: state_of(cell, place) for cell in group},
        "published": None if group[0].published is None else group[0].published.accuracy / 100,
        "ours": None,
    }
    if summaries:
        means = [s["accuracy"]["mean"] for s in summaries]
        entry["protocol"] = summaries[0]["protocol"]["text"]
        entry["ours"] = {
            "mean": float(np.mean(means)),
            "ci95": float(np.mean([s["accuracy"]["ci95"] for s in summaries])),
            "seeds": len(means),
            "std_over_seeds": float(np.std(means, ddof=1)) if len(means) > 1 else None,
        }
        for figure in ("nll", "ece"):
            key = "value" if figure == "ece" else "mean"
            entry[figure] = float(np.mean([s[figure][key] for s in summaries]))
            entry[f"mean_classifier_{figure}"] = float(np.mean([s["mean_classifier"][figure][key] for s in summaries]))
        entry["mean_classifier"] = float(np.mean([s["mean_classifier"]["accuracy"]["mean"] for s in summaries]))
    return entry


def _cell_text(entry: dict[str, Any]) -> str:
    published = "" if entry["published"] is None else f" (paper {100 * entry['published']:.1f})"
    ours = entry["ours"]
    if ours is None:
        states = sorted(set(entry["runs"].values()))
        return f"ready to run: {', '.join(states)}{published}"
    seeds = "" if ours["seeds"] == 1 else f", {ours['seeds']} seeds"
    return f"**{100 * ours['mean']:.2f}** ± {100 * ours['ci95']:.2f}{seeds}{published}"


def _grid(rows: list[str], columns: list[str], cells: dict[tuple[str, str], str]) -> list[str]:
    lines = ["| | " + " | ".join(columns) + " |", "|---" * (len(columns) + 1) + "|"]
    return lines + [
        f"| {row} | " + " | ".join(cells.get((row, column), "") for column in columns) + " |" for row in rows
    ]


def _differences(cells: list[Cell], columns: list[str], place: Workplace) -> list[dict[str, Any]]:
    """SAMOVAR against every other row of its column, on the seeds that both have."""
    found = []
    for column in columns:
        members = [cell for cell in cells if cell.column == column and state_of(cell, place) == "measured"]
        ours = {cell.settings.seed: cell for cell in members if cell.row == "samovar"}
        for row in dict.fromkeys(cell.row for cell in members if cell.row != "samovar"):
            others = {cell.settings.seed: cell for cell in members if cell.row == row}
            seeds = sorted(ours.keys() & others.keys())
            if not seeds:
                continue
            groups = (
                [Measured.read(place.evidence(group[s]), "predictive") for s in seeds] for group in (ours, others)
            )
            compared = compare(*groups)
            over = compared["seeds"]["accuracy"]["difference"]
            pair = {"column": column, "first": "samovar", "second": row, "seeds": len(seeds), "over_seeds": over}
            found.append(pair | compared["paired"]["accuracy"])
    return found


def shots(cells: list[Cell], place: Workplace) -> Written:
    """Every model tested at other shots than it was trained on: accuracy, NLL and ECE."""
    found: list[dict[str, Any]] = []
    for cell in cells:
        if state_of(cell, place) != "measured":
            continue
        for protocol in sorted((cell.protocol, *cell.also), key=lambda each: each.shot):
            summary = stored_summary(cell, place, protocol)
            assert summary is not None
            figures = {
                "accuracy": summary["accuracy"]["mean"],
                "nll": summary["nll"]["mean"],
                "ece": summary["ece"]["value"],
            }
            where = {"row": cell.row, "trained": cell.column, "seed": cell.settings.seed, "shot": protocol.shot}
            found.append(where | figures)
    columns = [f"{shot}-shot" for shot in sorted({each["shot"] for each in found})]
    lines = [
        "# shots (cpu scale)",
        "",
        CPU_LABEL,
        "",
        "Accuracy in percent / NLL / ECE at test, mean over training seeds.",
        "",
    ]
    groups = list(dict.fromkeys((each["row"], each["trained"]) for each in found))
    texts = {}
    for row, trained in groups:
        for column in columns:
            members = [e for e in found if (e["row"], e["trained"], f"{e['shot']}-shot") == (row, trained, column)]
            a, n, e = (np.mean([each[key] for each in members]) for key in ("accuracy", "nll", "ece"))
            texts[f"{row}, trained on {trained}", column] = f"{100 * a:.1f} / {n:.3f} / {e:.3f}"
    lines += _grid([f"{row}, trained on {trained}" for row, trained in groups], columns, texts)
    return Written({"format": 1, "name": "shots", "scale": "cpu", "results": found}, "\n".join(lines) + "\n")


def calibration(cells: list[Cell], place: Workplace) -> Written:
    """NLL and ECE of each method, and of its classifier at the mean, from the runs of Table 1."""
    base = table("calibration", "cpu", cells, place).data
    lines = ["# calibration (cpu scale)", "", CPU_LABEL, ""]
    lines += ["| | | NLL | NLL at the mean | ECE | ECE at the mean |", "|---|---|---|---|---|---|"]
    for each in base["cells"]:
        if each["ours"] is not None:
            names = ("nll", "mean_classifier_nll", "ece", "mean_classifier_ece")
            figures = " | ".join(f"{each[name]:.4f}" for name in names)
            lines.append(f"| {each['row']} | {each['column']} | {figures} |")
    return Written(base | {"name": "calibration"}, "\n".join(lines) + "\n")


def omniglot(cells: list[Cell], place: Workplace) -> Written:
    """Both methods under the inductive protocol and with as many queries as shots, beside what VERSA reports."""
    found = []
    for way, shot in OMNIGLOT_SHAPES:
        protocols = {
            "inductive": Protocol(way, shot, 15),
            "as many queries as shots": Protocol(way, shot, shot, episodes=600),
        }
        for cell in cells:
            row: dict[str, Any] = {"way": way, "shot": shot, "method": cell.row}
            row |= {"reported_by_versa": VERSA_OMNIGLOT[way, shot] / 100, "confirmed": (way, shot) == (20, 5)}
            for name, protocol in protocols.items():
                summary = stored_summary(cell, place, protocol)
                row[name] = None if summary is None else {**summary["accuracy"], "ece": summary["ece"]["value"]}
            found.append(row)
    lines = ["# omniglot", "", "Trained on 20-way 1-shot tasks, measured on test characters with running norm.", ""]
    lines += [
        "| | ours | 15 queries per class, 5000 tasks | ECE | queries = shots, 600 tasks | VERSA reports |",
        "|---|---|---|---|---|---|",
    ]
    for row in found:
        texts = [_percent(row[name]) for name in ("inductive", "as many queries as shots")]
        ece = "" if row["inductive"] is None else f"{row['inductive']['ece']:.3f}"
        note = "" if row["confirmed"] else " (unconfirmed)"
        reported = f"{100 * row['reported_by_versa']:.2f}{note}"
        shape = f"{row['way']}-way {row['shot']}-shot"
        lines.append(f"| {shape} | {row['method']} | {texts[0]} | {ece} | {texts[1]} | {reported} |")
    lines += ["", "VERSA's figures are transductive (batch norm by the test set itself) and trained for each shape."]
    return Written({"format": 1, "name": "omniglot", "scale": "cpu", "results": found}, "\n".join(lines) + "\n")


def _percent(figure: dict[str, float] | None) -> str:
    return "ready to run" if figure is None else f"**{100 * figure['mean']:.2f}** ± {100 * figure['ci95']:.2f}"


def coverage(experiments: dict[str, list[Cell]], at_cpu_scale: dict[str, list[Cell]], place: Workplace) -> Written:
    """Every trained cell of the paper's tables: measured at its scale, measured at cpu scale, or ready to run."""
    lines = ["# Every cell of the paper", "", "| table | cell | published | at the paper's scale | at cpu scale |"]
    lines.append("|---|---|---|---|---|")
    found = []
    for name, cells in experiments.items():
        for cell in cells:
            alike = [c for c in at_cpu_scale[name] if (c.row, c.column) == (cell.row, cell.column)]
            states = ["measured" if state_of(cell, place) == "measured" else "ready to run"]
            small = [c for c in alike if c.name != cell.name]
            measured = sum(state_of(c, place) == "measured" for c in small)
            count = f"measured, {measured} of {len(small)}" if measured else "ready to run"
            states.append(count if small else "no counterpart")
            published = "" if cell.published is None else f"{cell.published.accuracy} ± {cell.published.ci95}"
            lines.append(f"| {name} | {cell.row}, {cell.column} | {published} | {states[0]} | {states[1]} |")
            found.append({"table": name, "row": cell.row, "column": cell.column, "paper": states[0], "cpu": states[1]})
    return Written({"format": 1, "name": "coverage", "cells": found}, "\n".join(lines) + "\n")
