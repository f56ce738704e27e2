"""The figure of the synthetic study."""

from typing import Any

from matplotlib.figure import Figure

from samovar.reporting.figures.style import png

# Okabe and Ito's palette, told apart with any colour vision; each method also has its own marker.
METHODS = {
    "exact": ("exact marginal", "#000000", None),
    "variational": ("variational (SAMOVAR)", "#0072B2", "o"),
    "monte_carlo": ("Monte Carlo (VERSA)", "#D55E00", "s"),
}


def synthetic_figure(result: dict[str, Any]) -> bytes:
    """The paper's figure of section 4.1: variance ratio over L, one panel per sigma_y, bars of one std over seeds."""
    limits = {row["sigma_y"]: row["zero_variance_limit"] for row in result["theory"]}
    figure = Figure(figsize=(3.4 * len(limits) + 0.4, 3.5), layout="constrained")
    panels = figure.subplots(1, len(limits), sharey=True, squeeze=False)[0]
    for panel, (sigma_y, limit) in zip(panels, limits.items(), strict=True):
        rows = [row for row in result["results"] if row["sigma_y"] == sigma_y]
        panel.axhline(1.0, color="0.6", linewidth=0.8)
        panel.axvline(limit, color="#009E73", linestyle=":", linewidth=1.4)
        panel.text(
            limit * 0.93,
            0.5,
            f"L* = {limit:.4g}",
            color="#00664B",
            rotation=90,
            fontsize=8,
            ha="right",
        )
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
    figure.legend(
        handles, labels, loc="outside lower center", ncols=len(METHODS), frameon=False, fontsize=9
    )
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
        [row["samples"] for row in rows],
        mean,
        std,
        label=label,
        color=color,
        marker=marker,
        capsize=2.5,
        linewidth=1.3,
    )
