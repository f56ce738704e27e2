"""Tables for the terminal."""

from typing import Any

from rich.markup import escape
from rich.table import Table

from samovar.reporting.figures.evaluation import WAYS, predictors_of
from samovar.reporting.html import figure_rows


def synthetic_table(result: dict[str, Any]) -> Table:
    """Return the variance ratios of the synthetic study: mean and std over the seeds.

    There is a row for each method and number of samples L, and a column for each sigma_y. `result`
    is what synthetic.json holds.
    """
    table = Table(
        title="Variance of the network / of the true posterior (1 is right; ± std over seeds)"
    )
    table.add_column("training")
    table.add_column("L", justify="right")
    for sigma_y in result["settings"]["sigma_y"]:
        table.add_column(f"sigma_y = {sigma_y:g}", justify="right")
    first_samples = result["settings"]["samples"][0]
    for (method, samples), cells in _variance_ratios(result).items():
        # A line before each method: the exact loss has no L, the others begin with the smallest.
        if samples in (None, first_samples):
            table.add_section()
        table.add_row(method.replace("_", " "), str(samples or ""), *cells)
    limits = [f"{row['zero_variance_limit']:.4g}" for row in result["theory"]]
    table.add_section()
    table.add_row("Monte Carlo is 0 up to", "L*", *limits)
    return table


def _variance_ratios(result: dict[str, Any]) -> dict[tuple[str, int | None], list[str]]:
    """Return the cells of each (method, L), in the order of sigma_y."""
    cells: dict[tuple[str, int | None], list[str]] = {}
    for row in result["results"]:
        ratio = row["variance_ratio"]
        text = f"{ratio['mean']:.3f} ± {ratio['std']:.3f}"
        cells.setdefault((row["method"], row["samples"]), []).append(text)
    return cells


def evaluation_table(summary: dict[str, Any]) -> Table:
    """Figures of a model by every way of predicting; the protocol is the title."""
    table = Table(title=f"{escape(summary['data'])}\n{escape(summary['protocol']['text'])}")
    table.add_column("")
    for name in predictors_of(summary):
        table.add_column(WAYS[name][0], justify="right")
    for label, cells in figure_rows(summary):
        table.add_row(label, *cells)
    return table


def comparison_table(comparison: dict[str, Any]) -> Table:
    """First minus second: on the same tasks, and over training seeds where there are several."""
    seeds = len(comparison["first"]), len(comparison["second"])
    title = (
        f"{escape(comparison['data'])}\n{escape(comparison['protocol']['text'])}\nfirst - second"
    )
    about = "these two models" if seeds == (1, 1) else f"these {seeds[0]} and {seeds[1]} models"
    table = Table(
        title=title, caption=f"Paired intervals are about {about} and tasks from these classes."
    )
    for column in ("", "first", "second", "paired difference", "difference over training seeds"):
        table.add_column(column, justify="right" if column else "left")
    for name, label, unit in (
        ("accuracy", "accuracy, %", 100),
        ("nll", "NLL", 1),
        ("brier", "Brier score", 1),
    ):
        over, paired = comparison["seeds"][name], comparison["paired"][name]
        groups = [_group(over[group], unit) for group in ("first", "second")]
        table.add_row(
            label, *groups, _difference(paired, unit), _difference(over["difference"], unit)
        )
    ece = comparison["paired"]["ece"]
    if ece is None:
        return table
    table.add_row(
        "ECE", "", "", f"{ece['mean']:+.4f} ({ece['ci95'][0]:+.4f} to {ece['ci95'][1]:+.4f})", ""
    )
    return table


def _group(figures: dict[str, Any], unit: int) -> str:
    digits = 2 if unit == 100 else 4
    spread = "" if figures["std"] is None else f" (std {unit * figures['std']:.{digits}f})"
    return f"{unit * figures['mean']:.{digits}f}{spread}"


def _difference(figures: dict[str, Any] | None, unit: int) -> str:
    digits = 2 if unit == 100 else 4
    if figures is None:
        return "needs two seeds of each"
    return f"{unit * figures['mean']:+.{digits}f} ± {unit * figures['ci95']:.{digits}f}"
