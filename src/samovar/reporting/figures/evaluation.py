"""Pictures of an evaluation. Each function takes what evaluation.json holds and returns the bytes of a PNG."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from samovar.reporting.figures.style import plain_label, png

WAYS = {  # name in the file: label, colour, line
    "predictive": ("sampled classifiers", "#0072B2", "-"),
    "mean_classifier": ("classifier at the mean", "#D55E00", "-"),
    "predictive_tempered": ("sampled, tempered", "#0072B2", ":"),
    "mean_classifier_tempered": ("at the mean, tempered", "#D55E00", ":"),
}


def predictors_of(summary: dict[str, Any]) -> dict[str, dict[str, Any]]:
    """The figures of each way of predicting that the evaluation has."""
    return {
        name: summary if name == "predictive" else summary[name]
        for name in WAYS
        if name in (*summary, "predictive")
    }


def reliability_figure(summary: dict[str, Any]) -> bytes:
    """Accuracy over the top probability, and how many queries have it; on the diagonal probabilities are right."""
    ways = {
        name: each for name, each in predictors_of(summary).items() if not name.endswith("tempered")
    }
    figure = Figure(figsize=(4.2 * len(ways) + 0.4, 4.6), layout="constrained")
    panels = figure.subplots(2, len(ways), sharex=True, squeeze=False, height_ratios=[3, 1])
    for (name, each), (upper, lower) in zip(ways.items(), panels.T, strict=True):
        label, color, _ = WAYS[name]
        bins = each["reliability"]
        confidence = [row["confidence"] for row in bins]
        upper.plot([0, 1], [0, 1], color="0.7", linewidth=1)
        upper.plot(
            confidence,
            [row["accuracy"] for row in bins],
            color=color,
            marker="o",
            markersize=4,
            label="as it is",
        )
        if (warm := summary.get(f"{name}_tempered")) is not None:
            rows = warm["reliability"]
            text = f"temperature {warm['temperature']:.2f} (ECE {warm['ece']['value']:.3f})"
            points = zip(*((row["confidence"], row["accuracy"]) for row in rows), strict=True)
            upper.plot(*points, color="0.35", linestyle=":", label=text)
        upper.set(title=f"{label}\nECE {each['ece']['value']:.3f}", ylim=(0, 1.02), xlim=(0, 1.02))
        upper.legend(frameon=False, fontsize=8, loc="upper left")
        lower.bar(confidence, [row["queries"] for row in bins], width=0.05, color=color, alpha=0.6)
        lower.set(xlabel="top probability", yticks=[])
    panels[0, 0].set_ylabel("accuracy")
    panels[1, 0].set_ylabel("queries")
    return png(figure)


def risk_coverage_figure(summary: dict[str, Any]) -> bytes:
    """Error rate among the most confident answers, over the share of the queries that is answered."""
    figure = Figure(figsize=(5.2, 3.8), layout="constrained")
    panel = figure.subplots()
    for name, each in predictors_of(summary).items():
        label, color, line = WAYS[name]
        curve = each["risk_coverage"]
        risk = [100 * value for value in curve["risk"]]
        panel.plot(curve["coverage"], risk, color=color, linestyle=line, label=label)
    panel.set(
        xlabel="share of the queries that is answered", ylabel="wrong answers, %", xlim=(0, 1)
    )
    panel.set_ylim(bottom=0)
    panel.legend(frameon=False, fontsize=8)
    return png(figure)


def classes_figure(summary: dict[str, Any]) -> bytes:
    """Accuracy of the hardest and the easiest classes, and what the hardest are taken for."""
    hardest, easiest = summary["classes"]["hardest"], summary["classes"]["easiest"]
    figure = Figure(figsize=(11, 0.3 * max(len(hardest), len(easiest)) + 1.3), layout="constrained")
    confusion, ranking = figure.subplots(1, 2, width_ratios=[2.2, 1])
    columns = list(
        dict.fromkeys(taken["name"] for row in hardest[:6] for taken in row["taken_for"][:3])
    )
    shares = np.full((len(hardest), max(1, len(columns))), np.nan)
    for row, each in enumerate(hardest):
        for taken in each["taken_for"]:
            if taken["name"] in columns:
                shares[row, columns.index(taken["name"])] = 100 * taken["share"]
    confusion.imshow(shares, cmap="OrRd", vmin=0, aspect="auto")
    for row, column in zip(*np.nonzero(np.isfinite(shares)), strict=True):
        value = shares[row, column]
        shade = "white" if value > 0.6 * np.nanmax(shares) else "black"
        confusion.text(
            column, row, f"{value:.0f}", ha="center", va="center", fontsize=7, color=shade
        )
    confusion.set_yticks(
        range(len(hardest)), [plain_label(row["name"]) for row in hardest], fontsize=7
    )
    confusion.set_xticks(
        range(len(columns)),
        [plain_label(name) for name in columns],
        fontsize=7,
        rotation=35,
        ha="right",
    )
    confusion.set_title(
        "the hardest classes are taken for (% where both are in the task)", fontsize=9
    )
    shown = [*easiest, *reversed(hardest)]
    ranking.barh(
        range(len(shown)),
        [100 * row["accuracy"] for row in shown],
        color=["#009E73"] * len(easiest) + ["#D55E00"] * len(hardest),
    )
    ranking.set_yticks(range(len(shown)), [plain_label(row["name"]) for row in shown], fontsize=5.5)
    ranking.invert_yaxis()
    ranking.set_title("accuracy, %: easiest, hardest", fontsize=9)
    return png(figure)


def grid_figure(summaries: Sequence[dict[str, Any]]) -> bytes:
    """Accuracy over shots, a line for each way."""
    figure = Figure(figsize=(5.2, 3.8), layout="constrained")
    panel = figure.subplots()
    for way in sorted({each["protocol"]["way"] for each in summaries}):
        rows = sorted(
            (each for each in summaries if each["protocol"]["way"] == way),
            key=lambda s: s["protocol"]["shot"],
        )
        shots = [row["protocol"]["shot"] for row in rows]
        mean, interval = (
            [100 * row["accuracy"][name] for row in rows] for name in ("mean", "ci95")
        )
        panel.errorbar(shots, mean, interval, marker="o", capsize=2.5, label=f"{way}-way")
    shots = sorted({each["protocol"]["shot"] for each in summaries})
    panel.set_xscale("log")
    panel.set_xticks(shots, [str(shot) for shot in shots])
    panel.minorticks_off()
    panel.set(xlabel="support images of each class", ylabel="accuracy, %")
    panel.legend(frameon=False, fontsize=8)
    return png(figure)


def sampling_figure(*studies: dict[str, Any]) -> bytes:
    """Accuracy, and error of the probabilities, over the number of sampled classifiers; a row for each study."""
    figure = Figure(figsize=(10, 3.8 * len(studies)), layout="constrained")
    for study, (left, right) in zip(
        studies, figure.subplots(len(studies), 2, squeeze=False), strict=True
    ):
        _sampling_row(study, left, right)
    return png(figure)


def _sampling_row(study: dict[str, Any], left: Axes, right: Axes) -> None:
    mean = study["mean_classifier"]["accuracy"]
    left.axhline(
        100 * mean, color="#000000", linestyle="--", linewidth=1, label="classifier at the mean"
    )
    for kind, label, color, marker in (
        ("plain", "random", "#D55E00", "s"),
        ("quasi", "quasi-random", "#0072B2", "o"),
    ):
        rows = [row for row in study["results"] if row["kind"] == kind]
        counts = [row["samples"] for row in rows]
        accuracy = np.array([row["accuracy"] for row in rows]) * 100  # (counts, repeats)
        deviation = accuracy.std(1, ddof=1) if accuracy.shape[1] > 1 else np.zeros(len(counts))
        left.errorbar(
            counts,
            accuracy.mean(1),
            deviation,
            label=label,
            color=color,
            marker=marker,
            capsize=2.5,
        )
        right.plot(counts, [row["error"] for row in rows], label=label, color=color, marker=marker)
    equal = study["quasi_equal_to_1000"]
    if equal is not None:
        right.axvline(equal, color="#0072B2", linewidth=0.8, linestyle=":")
        right.text(
            equal * 0.9,
            0.03,
            f"{equal} quasi-random\n= 1000 random",
            transform=right.get_xaxis_transform(),
            fontsize=8,
            ha="right",
        )
    way, shot = study["protocol"]["way"], study["protocol"]["shot"]
    about = f", {study['model']}" if "model" in study else ""
    left.set(
        title=f"{way}-way {shot}-shot{about}",
        xlabel="sampled classifiers",
        ylabel="accuracy, %",
        xscale="log",
    )
    right.set(
        xlabel="sampled classifiers",
        ylabel="error of the probabilities (rms)",
        xscale="log",
        yscale="log",
    )
    for panel in (left, right):
        panel.legend(frameon=False, fontsize=8)
