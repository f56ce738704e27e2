"""The course of a training as a picture."""

from typing import Any

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from samovar.reporting.figures.style import BLACK, BLUE, GREEN, PURPLE, VERMILION, png
from samovar.settings.paper import COLLAPSE_VARIANCE

VARIANCES = {"largest_weight_variance": VERMILION, "largest_bias_variance": PURPLE}
"""The metrics of the third panel, with their colours."""
LABELS = {
    "nll": "NLL",
    "loss": "loss",
    "validation_accuracy": "accuracy on validation tasks",
    "largest_weight_variance": "weights",
    "largest_bias_variance": "biases",
}


def training_figure(metrics: list[dict[str, Any]]) -> bytes:
    """Draw loss, validation accuracy and the largest predicted variance over the updates.

    The variances are the trace of appendix D; `metrics` are the lines of metrics.jsonl.
    """
    figure = Figure(figsize=(11, 3.2), layout="constrained")
    loss, accuracy, variance = figure.subplots(1, 3)
    loss.set_yscale("log")
    _plot(loss, metrics, "nll", BLUE)
    _plot(loss, metrics, "loss", BLACK)
    _plot(accuracy, metrics, "validation_accuracy", GREEN, marker="o")
    for name, color in VARIANCES.items():
        _plot(variance, metrics, name, color)
    if _has_variance(metrics):  # a logarithmic axis cannot show the zeros of prototypes
        variance.set_yscale("log")
    # Appendix D reports when VERSA's largest variance falls below this level.
    level = f"collapsed: below {COLLAPSE_VARIANCE}"
    variance.axhline(COLLAPSE_VARIANCE, color="0.7", linewidth=0.8, linestyle=":", label=level)
    _finish(loss, "training")
    _finish(accuracy, "validation")
    _finish(variance, "largest predicted variance")
    return png(figure)


def _plot(
    panel: Axes, metrics: list[dict[str, Any]], name: str, color: str, marker: str | None = None
) -> None:
    lines = [line for line in metrics if name in line]
    if not lines:
        return
    panel.plot(
        [line["update"] for line in lines],
        [line[name] for line in lines],
        label=LABELS[name],
        color=color,
        marker=marker,
        linewidth=1.2,
    )


def _has_variance(metrics: list[dict[str, Any]]) -> bool:
    largest = 0.0
    for line in metrics:
        for name in VARIANCES:
            largest = max(largest, line.get(name, 0.0))
    return largest > 0


def _finish(panel: Axes, title: str) -> None:
    panel.set(title=title, xlabel="update")
    if panel.get_legend_handles_labels()[0]:
        panel.legend(frameon=False, fontsize=8)
