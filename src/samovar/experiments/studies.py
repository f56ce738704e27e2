"""Beyond the paper's tables, from the same evidence: other shots, calibration, Omniglot."""

from typing import Any

import numpy as np

from samovar.experiments.cells import OMNIGLOT_SHAPES, VERSA_OMNIGLOT, Cell, omniglot_protocols
from samovar.experiments.reproduce import Workplace, state_of, stored_summary
from samovar.experiments.tables import Written, grid, paired_differences, table, title


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
            where = {
                "row": cell.row,
                "trained": cell.column,
                "seed": cell.settings.seed,
                "shot": protocol.shot,
            }
            found.append(where | figures)
    columns = [f"{shot}-shot" for shot in sorted({each["shot"] for each in found})]
    lines = title("shots", "cpu", cells)
    lines += ["Accuracy in percent / NLL / ECE at test, mean over training seeds.", ""]
    groups = list(dict.fromkeys((each["row"], each["trained"]) for each in found))
    texts = {}
    for row, trained in groups:
        for column in columns:
            members = [
                e
                for e in found
                if (e["row"], e["trained"], f"{e['shot']}-shot") == (row, trained, column)
            ]
            a, n, e = (
                np.mean([each[key] for each in members]) for key in ("accuracy", "nll", "ece")
            )
            texts[f"{row}, trained on {trained}", column] = f"{100 * a:.1f} / {n:.3f} / {e:.3f}"
    lines += grid([f"{row}, trained on {trained}" for row, trained in groups], columns, texts)
    return Written(
        {"format": 1, "name": "shots", "scale": "cpu", "results": found}, "\n".join(lines) + "\n"
    )


def calibration(cells: list[Cell], place: Workplace) -> Written:
    """NLL and ECE of each method, and of its classifier at the mean, from the runs of Table 1."""
    base = table("calibration", "cpu", cells, place).data
    lines = title("calibration", "cpu", cells)
    lines += ["| | | NLL | NLL at the mean | ECE | ECE at the mean |", "|---|---|---|---|---|---|"]
    for each in base["cells"]:
        if each["ours"] is not None:
            names = ("nll", "mean_classifier_nll", "ece", "mean_classifier_ece")
            figures = " | ".join(f"{each[name]:.4f}" for name in names)
            lines.append(f"| {each['row']} | {each['column']} | {figures} |")
    paired = paired_differences(cells, place, "nll")
    if paired:
        lines += [
            "",
            "Paired differences of the NLL on the same tasks (95 % interval over tasks; below 0 is better):",
            "",
        ]
    for each in paired:
        over = each["over_seeds"]
        seeds = (
            "one training seed"
            if over is None
            else f"over seeds {over['mean']:+.3f} ± {over['ci95']:.3f}"
        )
        where = f"{each['group']}: {each['first']} - {each['second']}"
        lines.append(f"- {where}: {each['mean']:+.4f} ± {each['ci95']:.4f} ({seeds})")
    return Written(base | {"name": "calibration", "paired": paired}, "\n".join(lines) + "\n")


def omniglot(cells: list[Cell], place: Workplace) -> Written:
    """Both methods under the inductive protocol and with as many queries as shots, beside what VERSA reports."""
    found = []
    for way, shot in OMNIGLOT_SHAPES:
        protocols = dict(
            zip(
                ("inductive", "as many queries as shots"),
                omniglot_protocols(way, shot),
                strict=True,
            )
        )
        for cell in cells:
            row: dict[str, Any] = {"way": way, "shot": shot, "method": cell.row}
            row |= {
                "reported_by_versa": VERSA_OMNIGLOT[way, shot] / 100,
                "confirmed": (way, shot) == (20, 5),
            }
            for name, protocol in protocols.items():
                summary = stored_summary(cell, place, protocol)
                row[name] = (
                    None
                    if summary is None
                    else {**summary["accuracy"], "ece": summary["ece"]["value"]}
                )
            found.append(row)
    lines = ["# omniglot (cpu scale)", ""]
    lines += ["Trained on 20-way 1-shot tasks, measured on test characters with running norm.", ""]
    lines += [
        "| | ours | 15 queries per class, 5000 tasks (20-way: 1000) | ECE | queries = shots, 600 | VERSA reports |",
        "|---|---|---|---|---|---|",
    ]
    for row in found:
        texts = [_percent(row[name]) for name in ("inductive", "as many queries as shots")]
        ece = "" if row["inductive"] is None else f"{row['inductive']['ece']:.3f}"
        note = "" if row["confirmed"] else " (unconfirmed)"
        reported = f"{100 * row['reported_by_versa']:.2f}{note}"
        shape = f"{row['way']}-way {row['shot']}-shot"
        lines.append(
            f"| {shape} | {row['method']} | {texts[0]} | {ece} | {texts[1]} | {reported} |"
        )
    lines += [
        "",
        "VERSA's figures are transductive (batch norm by the test set itself) and trained for each shape.",
    ]
    return Written(
        {"format": 1, "name": "omniglot", "scale": "cpu", "results": found}, "\n".join(lines) + "\n"
    )


def _percent(figure: dict[str, float] | None) -> str:
    return (
        "ready to run"
        if figure is None
        else f"**{100 * figure['mean']:.2f}** ± {100 * figure['ci95']:.2f}"
    )
