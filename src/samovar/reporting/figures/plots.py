"""Pictures of results. Each function takes what the JSON file holds and returns the bytes of a PNG."""

import io
from typing import Any

import numpy as np
from matplotlib.figure import Figure

from samovar.core.randomness import generator
from samovar.data.dataset import Dataset
from samovar.errors import DataError
from samovar.prediction.predictive import Prediction

# Okabe and Ito's palette, told apart with any colour vision; each method also has its own marker.
METHODS = {
    "exact": ("exact marginal", "#000000", None),
    "variational": ("variational (SAMOVAR)", "#0072B2", "o"),
    "monte_carlo": ("Monte Carlo (VERSA)", "#D55E00", "s"),
}


def png(figure: Figure) -> bytes:
    """The figure as PNG, without the date and version that would make equal figures differ."""
    buffer = io.BytesIO()
    figure.savefig(buffer, format="png", dpi=200, metadata={"Software": None})
    return buffer.getvalue()


def synthetic_figure(result: dict[str, Any]) -> bytes:
    """The paper's figure of section 4.1: variance ratio over L, one panel per sigma_y, bars of one std over seeds."""
    limits = {row["sigma_y"]: row["zero_variance_limit"] for row in result["theory"]}
    figure = Figure(figsize=(3.4 * len(limits) + 0.4, 3.5), layout="constrained")
    panels = figure.subplots(1, len(limits), sharey=True, squeeze=False)[0]
    for panel, (sigma_y, limit) in zip(panels, limits.items(), strict=True):
        rows = [row for row in result["results"] if row["sigma_y"] == sigma_y]
        panel.axhline(1.0, color="0.6", linewidth=0.8)
        panel.axvline(limit, color="#009E73", linestyle=":", linewidth=1.4)
        panel.text(limit * 0.93, 0.5, f"L* = {limit:.4g}", color="#00664B", rotation=90, fontsize=8, ha="right")
        for method in METHODS:
            _draw_method(panel, method, [row for row in rows if row["method"] == method])
        samples = sorted({row["samples"] for row in rows if row["samples"]})
        panel.set_xscale("log")
        panel.set_xticks(samples, [str(value) for value in samples], fontsize=8)
        panel.minorticks_off()
        panel.set_ylim(-0.06, 1.34)
        panel.set_title(rf"$\sigma_y = {sigma_y:g}$", fontsize=10)
        panel.set_xlabel("samples L in training")
    panels[0].set_ylabel("variance: network / true posterior")
    handles, labels = panels[0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside lower center", ncols=len(METHODS), frameon=False, fontsize=9)
    return png(figure)


def _draw_method(panel: Any, method: str, rows: list[dict[str, Any]]) -> None:
    label, color, marker = METHODS[method]
    mean = [row["variance_ratio"]["mean"] for row in rows]
    std = [row["variance_ratio"]["std"] for row in rows]
    if method == "exact":  # has no L: a band across the panel
        panel.axhline(mean[0], color=color, linewidth=1.2, linestyle="--", label=label)
        panel.axhspan(mean[0] - std[0], mean[0] + std[0], color="0.9", zorder=0)
        return
    panel.errorbar(
        [row["samples"] for row in rows], mean, std, label=label, color=color, marker=marker, capsize=2.5, linewidth=1.3
    )


def contact_sheet(dataset: Dataset, classes: int, seed: int, columns: int = 12) -> bytes:
    """Some classes of a data set, a row each, with its name beside it."""
    if len(dataset.store.facts["shape"]) != 3:
        raise DataError(f"{dataset.store.name} holds feature vectors; there is nothing to draw.")
    if classes < 1 or not len(dataset):
        raise DataError(f"There is nothing to draw: {classes} classes of {dataset.description}.")
    chosen = np.sort(generator(seed, "contact sheet").permutation(len(dataset))[:classes])
    height, width, _ = dataset.store.facts["shape"]
    figure = Figure(figsize=(11, 0.75 * len(chosen) + 0.5))
    figure.subplots_adjust(left=0.23, right=0.99, bottom=0.02, top=1 - 0.4 / (0.75 * len(chosen) + 0.5))
    panels = figure.subplots(len(chosen), 1, squeeze=False)[:, 0]
    figure.suptitle(f"{dataset.description}: {len(chosen)} of its classes".replace("$", r"\$"), fontsize=10)
    for panel, position in zip(panels, chosen, strict=True):
        count = int(min(columns, dataset.counts[position]))
        images = dataset.gather(dataset.starts[position] + np.arange(count)).numpy()
        strip = np.full((height, columns * (width + 2), images.shape[-1]), 255, np.uint8)
        for column, image in enumerate(images):
            strip[:, column * (width + 2) : column * (width + 2) + width] = image
        panel.imshow(strip.squeeze(-1) if strip.shape[-1] == 1 else strip, cmap="gray", vmin=0, vmax=255)
        panel.set_xticks([])
        panel.set_yticks([])
        panel.spines[:].set_visible(False)
        panel.set_ylabel(plain_label(dataset.class_names[position]), rotation=0, ha="right", va="center", fontsize=7)
    return png(figure)


def plain_label(name: str) -> str:
    """A class name as plain text that fits: no line breaks, no mathematics."""
    plain = " ".join(name.split()).replace("$", r"\$")
    return plain if len(plain) <= 34 else f"{plain[:33]}…"


def episode_figure(
    support: np.ndarray,
    support_labels: np.ndarray,
    query: np.ndarray,
    query_labels: np.ndarray,
    prediction: Prediction,
    names: list[str],
) -> bytes:
    """What the model believes in one task: the support images of each class, then queries with predictive bars.

    Images are (n, H, W, C) uint8, `prediction` is that of one task. A bar is the probability of a class, its whisker
    one standard deviation over sampled classifiers; green is the true class, red the answer where it is wrong.
    """
    way, columns = len(names), min(len(query), 6)
    rows, shown = -(-len(query) // columns), min(5, int(np.bincount(support_labels).max()))
    figure = Figure(figsize=(11, 0.9 * shown + 1.15 * rows + 1.0), layout="constrained")
    heights = [0.9 * shown + 0.5, 1.15 * rows + 0.5]
    upper, lower = figure.subfigures(2, 1, squeeze=False, height_ratios=heights)[:, 0]
    upper.suptitle("support", fontsize=10)
    for panel in (panels := upper.subplots(shown, way, squeeze=False)).flat:
        panel.axis("off")
    for label in range(way):
        for row, image in enumerate(support[support_labels == label][:shown]):
            _image(panels[row, label], image)
        panels[0, label].set_title(f"{label}: {plain_label(names[label])}", fontsize=6.5, pad=3)
    probabilities = prediction.probabilities[0].numpy()
    spread = None if prediction.spread is None else prediction.spread[0].numpy()
    lower.suptitle("queries: probability of each class, whiskers over sampled classifiers", fontsize=10)
    cells = lower.subplots(rows, 2 * columns, squeeze=False, width_ratios=[1, 1.3] * columns)
    for panel in cells.flat:
        panel.axis("off")
    for position, image in enumerate(query):
        row, column = divmod(position, columns)
        _image(cells[row, 2 * column], image)
        bars, answer, truth = cells[row, 2 * column + 1], int(probabilities[position].argmax()), query_labels[position]
        colors = ["#009E73" if n == truth else "#D55E00" if n == answer else "0.7" for n in range(way)]
        bars.axis("on")
        whiskers = None if spread is None else spread[position]
        bars.barh(range(way), probabilities[position], xerr=whiskers, color=colors, error_kw={"linewidth": 0.8})
        bars.set(xlim=(0, 1), yticks=range(way), xticks=[])
        bars.invert_yaxis()
        bars.tick_params(labelsize=6, length=0)
        bars.spines[["top", "right"]].set_visible(False)
    return png(figure)


def answers_figure(images: np.ndarray, rows: list[dict[str, Any]], columns: int = 6, most: int = 60) -> bytes:
    """Images (n, H, W, C) with the answers of `samovar predict --json` under them; what was rejected is red."""
    shown = min(len(images), most)
    columns = min(columns, shown)
    lines = -(-shown // columns)
    figure = Figure(figsize=(1.9 * columns, 2.3 * lines + (0.3 if shown < len(images) else 0)), layout="constrained")
    for panel in (panels := figure.subplots(lines, columns, squeeze=False)).flat:
        panel.axis("off")
    for position in range(shown):
        row, panel = rows[position], panels[divmod(position, columns)]
        _image(panel, images[position])
        color = "#D55E00" if row["rejected"] else "#00664B"
        best = max(row["probabilities"].values())
        text = plain_label(row["label"]) + ("" if row["rejected"] else f" {best:.0%}")
        panel.set_title(text, fontsize=8, color=color)
    if shown < len(images):
        figure.supxlabel(f"the first {shown} of {len(images)}", fontsize=8)
    return png(figure)


def _image(panel: Any, image: np.ndarray) -> None:
    panel.imshow(image.squeeze(-1) if image.shape[-1] == 1 else image, cmap="gray", vmin=0, vmax=255)
    panel.axis("off")


def training_figure(metrics: list[dict[str, Any]]) -> bytes:
    """Loss, validation accuracy, and the largest predicted variance over updates (the trace of appendix D)."""
    figure = Figure(figsize=(11, 3.2), layout="constrained")
    loss, accuracy, variance = figure.subplots(1, 3)
    loss.set_yscale("log")
    for name, color in (("nll", "#0072B2"), ("loss", "#000000")):
        _trace(loss, metrics, name, color)
    _trace(accuracy, metrics, "validation_accuracy", "#009E73", marker="o")
    for name, color in (("largest_weight_variance", "#D55E00"), ("largest_bias_variance", "#CC79A7")):
        _trace(variance, metrics, name, color)
    if variance.lines and any(value > 0 for line in variance.lines for value in line.get_ydata()):
        variance.set_yscale("log")
    variance.axhline(0.001, color="0.7", linewidth=0.8, linestyle=":")
    for panel, title in ((loss, "training"), (accuracy, "validation"), (variance, "largest predicted variance")):
        panel.set(title=title, xlabel="update")
        if panel.get_legend_handles_labels()[0]:
            panel.legend(frameon=False, fontsize=8)
    return png(figure)


def _trace(panel: Any, metrics: list[dict[str, Any]], name: str, color: str, marker: str | None = None) -> None:
    points = [(line["update"], line[name]) for line in metrics if name in line]
    if points:
        panel.plot(*zip(*points, strict=True), label=name.replace("_", " "), color=color, marker=marker, linewidth=1.2)
