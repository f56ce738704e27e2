"""The figure of the synthetic study (section 4.1 of the paper)."""

from dataclasses import dataclass
from typing import Any

from matplotlib.figure import Figure

from samovar.reporting.figures.style import BLACK, BLUE, DARK_GREEN, GREEN, VERMILION, png

Row = dict[str, Any]
"""An entry of `results` in synthetic.json."""


@dataclass(frozen=True)
class MethodStyle:
    """How a training method looks; the marker tells methods apart where colours do not."""

    label: str
    color: str
    marker: str | None


METHODS = {
    "exact": MethodStyle("exact marginal", BLACK, None),
    "variational": MethodStyle("variational (SAMOVAR)", BLUE, "o"),
    "monte_carlo": MethodStyle("Monte Carlo (VERSA)", VERMILION, "s"),
}


def synthetic_figure(result: dict[str, Any]) -> bytes:
    """Draw the variance ratio over L, one panel for each sigma_y.

    Bars are one standard deviation over seeds. `result` is what synthetic.json holds.
    """
    theory = result["theory"]
    figure = Figure(figsize=(3.4 * len(theory) + 0.4, 3.5), layout="constrained")
    panels = figure.subplots(1, len(theory), sharey=True, squeeze=False)[0]
    for panel, limits in zip(panels, theory, strict=True):
        sigma_y = limits["sigma_y"]
        rows = [row for row in result["results"] if row["sigma_y"] == sigma_y]
        _draw_limit(panel, limits["zero_variance_limit"])
        for method in METHODS:
            _draw_method(panel, method, rows)
        _label_axes(panel, sigma_y, rows)
    panels[0].set_ylabel("variance: network / true posterior")
    handles, labels = panels[0].get_legend_handles_labels()
    figure.legend(
        handles, labels, loc="outside lower center", ncols=len(METHODS), frameon=False, fontsize=9
    )
    return png(figure)


def _draw_limit(panel: Any, limit: float) -> None:
    """Draw the right ratio, 1, and L*, up to which Monte Carlo training loses all variance."""
    panel.axhline(1.0, color="0.6", linewidth=0.8)
    panel.axvline(limit, color=GREEN, linestyle=":", linewidth=1.4)
    text = f"L* = {limit:.4g}"
    panel.text(limit * 0.93, 0.5, text, color=DARK_GREEN, rotation=90, fontsize=8, ha="right")


def _draw_method(panel: Any, method: str, rows: list[Row]) -> None:
    style = METHODS[method]
    method_rows = [row for row in rows if row["method"] == method]
    mean = [row["variance_ratio"]["mean"] for row in method_rows]
    std = [row["variance_ratio"]["std"] for row in method_rows]
    if method == "exact":
        # It samples nothing, so there is no L to plot it over: a band across the panel.
        panel.axhline(mean[0], color=style.color, linewidth=1.2, linestyle="--", label=style.label)
        panel.axhspan(mean[0] - std[0], mean[0] + std[0], color="0.9", zorder=0)
        return
    panel.errorbar(
        [row["samples"] for row in method_rows],
        mean,
        std,
        label=style.label,
        color=style.color,
        marker=style.marker,
        capsize=2.5,
        linewidth=1.3,
    )


def _label_axes(panel: Any, sigma_y: float, rows: list[Row]) -> None:
    samples = sorted({row["samples"] for row in rows if row["samples"]})
    panel.set_xscale("log")
    panel.set_xticks(samples, [str(number) for number in samples], fontsize=8)
    panel.minorticks_off()
    panel.set_ylim(-0.06, 1.34)
    panel.set_title(rf"$\sigma_y = {sigma_y:g}$", fontsize=10)
    panel.set_xlabel("samples L in training")
