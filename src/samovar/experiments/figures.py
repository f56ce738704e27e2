"""Pictures of reproduced tables and figures. Each takes what NAME.json holds and returns the bytes of a PNG."""

from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from samovar.reporting.figures.style import png

COLORS = {
    "samovar": "#0072B2",
    "versa": "#D55E00",
    "separate": "#009E73",
    "prototypes": "#CC79A7",
    "tadam": "#D55E00",
}
MARKERS = {"samovar": "o", "versa": "s", "separate": "^", "prototypes": "D"}


def table_figure(data: dict[str, Any]) -> bytes:
    """Our figures with intervals, and the published ones as rings; a row for each cell."""
    cells = data["cells"]
    figure = Figure(figsize=(8, 0.36 * len(cells) + 1.2), layout="constrained")
    panel = figure.subplots()
    for position, each in enumerate(cells):
        if each["published"] is not None:
            label = "published" if position == 0 else None
            panel.plot(
                100 * each["published"],
                position,
                "o",
                mfc="none",
                mec="0.3",
                markersize=8,
                label=label,
            )
        if each["ours"] is not None:
            ours = each["ours"]
            panel.errorbar(
                100 * ours["mean"],
                position,
                xerr=100 * ours["ci95"],
                fmt="o",
                color="#0072B2",
                capsize=3,
            )
        else:
            outside = panel.get_yaxis_transform()  # to the right of the panel, where no ring can be
            panel.text(
                1.01,
                position,
                "ready to run",
                fontsize=7,
                color="0.5",
                transform=outside,
                va="center",
            )
    panel.set_yticks(
        range(len(cells)), [f"{each['row']}, {each['column']}" for each in cells], fontsize=8
    )
    panel.set_ylim(len(cells) - 0.5, -0.5)
    panel.grid(axis="x", color="0.9")
    panel.set(
        xlabel="accuracy, %",
        title=f"{data['name']} ({data['scale']} scale): ours filled, published as rings",
    )
    return png(figure)


def calibration_figure(data: dict[str, Any]) -> bytes:
    """NLL and calibration error of the average over sampled classifiers, and as rings of the classifier at the mean."""
    cells = [each for each in data["cells"] if each["ours"] is not None]
    figure = Figure(figsize=(10, 0.36 * len(cells) + 1.6), layout="constrained")
    for panel, (key, label) in zip(
        figure.subplots(1, 2, sharey=True), (("nll", "NLL"), ("ece", "ECE")), strict=True
    ):
        positions = range(len(cells))
        panel.plot(
            [c[f"mean_classifier_{key}"] for c in cells],
            positions,
            "o",
            mfc="none",
            mec="0.3",
            markersize=8,
        )
        panel.plot([c[key] for c in cells], positions, "o", color="#0072B2")
        panel.set_yticks(
            positions, [f"{each['row']}, {each['column']}" for each in cells], fontsize=8
        )
        panel.grid(axis="x", color="0.9")
        panel.set(xlabel=f"{label} (lower is better)", ylim=(len(cells) - 0.5, -0.5))
    figure.suptitle(
        f"Calibration ({data['scale']} scale): sampled classifiers filled, at the mean as rings"
    )
    return png(figure)


def shots_figure(data: dict[str, Any]) -> bytes:
    """Accuracy, NLL and ECE over the shots at test; solid for models trained on 5-shot tasks, dotted on 1-shot."""
    figure = Figure(figsize=(12, 3.9), layout="constrained")
    panels = figure.subplots(1, 3)
    results = data["results"]
    for panel, (key, label) in zip(
        panels,
        (("accuracy", "accuracy, %"), ("nll", "NLL"), ("ece", "calibration error")),
        strict=True,
    ):
        for row, trained in dict.fromkeys((each["row"], each["trained"]) for each in results):
            members = [each for each in results if (each["row"], each["trained"]) == (row, trained)]
            shots = sorted({each["shot"] for each in members})
            unit = 100 if key == "accuracy" else 1
            values = [[unit * e[key] for e in members if e["shot"] == shot] for shot in shots]
            means, spread = [np.mean(v) for v in values], [np.ptp(v) / 2 for v in values]
            line = "-" if trained == "5-shot" else ":"
            name = f"{row}, {trained}" if key == "accuracy" else None
            panel.errorbar(
                shots,
                means,
                spread,
                linestyle=line,
                color=COLORS[row],
                marker=MARKERS[row],
                markersize=4,
                label=name,
            )
        panel.set_xscale("log")
        shots = sorted({each["shot"] for each in results})
        panel.set_xticks(shots, [str(shot) for shot in shots])
        panel.minorticks_off()
        panel.set(xlabel="shots at test", ylabel=label)
    figure.legend(loc="outside lower center", ncols=4, frameon=False, fontsize=8)
    figure.suptitle(f"Other shots than trained on ({data['scale']} scale)")
    return png(figure)


def collapse_figure(data: dict[str, Any]) -> bytes:
    """Largest variance of weights and biases over updates; below, zoomed after the first value under 0.001."""
    shots = sorted({each["shot"] for each in data["results"]}, reverse=True)
    figure = Figure(figsize=(5.2 * len(shots), 6.6), layout="constrained")
    for column, shot in enumerate(shots):
        members = [each for each in data["results"] if each["shot"] == shot]
        firsts = [each["first_below"] for each in members if each["first_below"] is not None]
        panel = figure.add_subplot(2, len(shots), column + 1)
        _variances(panel, members, 0)
        steps = [
            f" (paper: VERSA below 0.001 at about {each['published']})"
            for each in members
            if each["published"]
        ]
        below = f"{shot}-shot{steps[0] if steps else ''}"
        panel.set(title=below, xlabel="update", ylabel="largest variance", yscale="log")
        panel.title.set_fontsize(10)
        if column == 0:
            figure.legend(
                *panel.get_legend_handles_labels(),
                loc="outside lower center",
                ncols=4,
                frameon=False,
            )
        if firsts:
            zoomed = figure.add_subplot(2, len(shots), len(shots) + column + 1)
            _variances(zoomed, members, min(firsts))
            title = f"{shot}-shot, from update {min(firsts)}"
            collapsed = [each["trace"] for each in members if each["first_below"] is not None]
            after = [line for trace in collapsed for line in trace if line["update"] >= min(firsts)]
            highest = max(line["largest_weight_variance"] for line in after)
            zoomed.set(
                title=title,
                xlabel="update",
                ylabel="largest variance",
                ylim=(0, 1.1 * max(highest, 0.002)),
            )
    figure.suptitle(f"Collapse of the variance ({data['scale']} scale)")
    return png(figure)


def _variances(panel: Axes, members: list[dict[str, Any]], start: int) -> None:
    for each in members:
        trace = [line for line in each["trace"] if line["update"] >= start]
        updates = [line["update"] for line in trace]
        for kind, name, style in (("weights", "weight", "-"), ("biases", "bias", ":")):
            values = [line[f"largest_{name}_variance"] for line in trace]
            panel.plot(
                updates,
                values,
                style,
                color=COLORS[each["method"]],
                label=f"{each['method']}, {kind}",
            )
    panel.axhline(0.001, color="0.7", linewidth=0.8)


def beta_figure(data: dict[str, Any]) -> bytes:
    """Accuracy of single classifiers and of their average over multiples of beta."""
    shots = sorted({each["shot"] for each in data["results"]}, reverse=True)
    figure = Figure(figsize=(5.2 * max(1, len(shots)), 3.9), layout="constrained")
    panels = figure.subplots(1, max(1, len(shots)), squeeze=False)[0]
    for panel, shot in zip(panels, shots, strict=False):
        rows = sorted(
            (each for each in data["results"] if each["shot"] == shot),
            key=lambda each: each["multiple"],
        )
        for name, color in (("prior", "#0072B2"), ("posterior", "#D55E00")):
            for kind, line in (("average", "-"), ("single", ":")):
                values = [row["samples"][f"{name} {kind}"] for row in rows]
                mean, interval = (
                    [100 * value[key] for value in values] for key in ("mean", "ci95")
                )
                x = [row["multiple"] for row in rows]
                panel.errorbar(
                    x,
                    mean,
                    interval,
                    linestyle=line,
                    color=color,
                    label=f"{name}, {kind}",
                    capsize=2,
                )
        title = f"Choice of beta, {shot}-shot ({data['scale']} scale)"
        panel.set(
            xscale="log", xlabel="multiple of the preset's beta", ylabel="accuracy, %", title=title
        )
        panel.legend(frameon=False, fontsize=8)
    return png(figure)


def omniglot_figure(data: dict[str, Any]) -> bytes:
    """Ours under both protocols, and what VERSA reports."""
    figure = Figure(figsize=(7, 4), layout="constrained")
    panel = figure.subplots()
    rows = data["results"]
    panel.plot(
        [100 * r["reported_by_versa"] for r in rows],
        range(len(rows)),
        "o",
        mfc="none",
        mec="0.3",
        markersize=8,
    )
    for shift, name, color in (
        (-0.12, "inductive", "#0072B2"),
        (0.12, "as many queries as shots", "#009E73"),
    ):
        have = [
            (position + shift, row[name])
            for position, row in enumerate(rows)
            if row[name] is not None
        ]
        means, intervals = ([100 * each[key] for _, each in have] for key in ("mean", "ci95"))
        heights = [height for height, _ in have]
        panel.errorbar(means, heights, xerr=intervals, fmt="o", color=color, capsize=3, label=name)
    names = [f"{row['way']}-way {row['shot']}-shot {row['method']}" for row in rows]
    panel.set_yticks(range(len(rows)), names)
    panel.invert_yaxis()
    panel.set(
        xlabel="accuracy, %",
        title="Omniglot (cpu scale): ours filled, as VERSA reports it as rings",
    )
    panel.legend(frameon=False, fontsize=8)
    return png(figure)
