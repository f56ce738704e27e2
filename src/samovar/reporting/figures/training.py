"""The course of a training."""

from typing import Any

from matplotlib.figure import Figure

from samovar.reporting.figures.style import png


def training_figure(metrics: list[dict[str, Any]]) -> bytes:
    """Loss, validation accuracy, and the largest predicted variance over updates (the trace of appendix D)."""
    figure = Figure(figsize=(11, 3.2), layout="constrained")
    loss, accuracy, variance = figure.subplots(1, 3)
    loss.set_yscale("log")
    for name, color in (("nll", "#0072B2"), ("loss", "#000000")):
        _trace(loss, metrics, name, color)
    _trace(accuracy, metrics, "validation_accuracy", "#009E73", marker="o")
    for name, color in (
        ("largest_weight_variance", "#D55E00"),
        ("largest_bias_variance", "#CC79A7"),
    ):
        _trace(variance, metrics, name, color)
    if variance.lines and any(value > 0 for line in variance.lines for value in line.get_ydata()):
        variance.set_yscale("log")
    variance.axhline(0.001, color="0.7", linewidth=0.8, linestyle=":")
    for panel, title in (
        (loss, "training"),
        (accuracy, "validation"),
        (variance, "largest predicted variance"),
    ):
        panel.set(title=title, xlabel="update")
        if panel.get_legend_handles_labels()[0]:
            panel.legend(frameon=False, fontsize=8)
    return png(figure)


def _trace(
    panel: Any, metrics: list[dict[str, Any]], name: str, color: str, marker: str | None = None
) -> None:
    points = [(line["update"], line[name]) for line in metrics if name in line]
    if points:
        panel.plot(
            *zip(*points, strict=True),
            label=name.replace("_", " "),
            color=color,
            marker=marker,
            linewidth=1.2,
        )
