"""Tables of evaluations and comparisons.

The rows of an evaluation are plain text, so that the terminal and report.html show the same
numbers.
"""

from rich.markup import escape
from rich.table import Table

from samovar.core.text import printable
from samovar.evaluation.comparison import Comparison
from samovar.evaluation.metrics import (
    NO_INTERVAL,
    CalibrationError,
    Estimate,
    with_interval,
)
from samovar.evaluation.results import EvaluationResults, Metrics
from samovar.evaluation.seeds import SeedMeans
from samovar.evaluation.uncertainty import Auroc, UncertaintyMeasure

ONE_TASK = "A single task has no intervals."
"""Below a table whose intervals are missing."""
NONE = "-"
"""The cell of a metric that a predictor does not have."""

MEASURES = {
    "max_probability": "top probability",
    "entropy": "entropy",
    "mutual_information": "mutual information",
    "distance": "distance",
}
"""The measures of uncertainty with their names in tables."""

Row = tuple[str, list[str]]
"""The name of a metric, and its value for each predictor."""


def metric_rows(results: EvaluationResults) -> list[Row]:
    """Return the metrics as rows of text, with a column for each predictor."""
    cells: dict[str, list[str]] = {}
    for metrics in results.metrics.values():
        for label, cell in _cells(metrics).items():
            cells.setdefault(label, []).append(cell)
    rows = []
    for label, row in cells.items():
        # What no predictor has gets no row, such as the AUROCs for queries from outside.
        if any(cell != NONE for cell in row):
            rows.append((label, row))
    return rows


def _cells(metrics: Metrics) -> dict[str, str]:
    """Return all metrics of one predictor as text, by their labels."""
    cells = {
        "accuracy, %": percent(metrics.accuracy),
        "NLL": _estimate(metrics.nll),
        "Brier score": _estimate(metrics.brier),
        "ECE": _calibration(metrics.ece),
    }
    for kind, label in (
        ("wrong_auroc", "AUROC wrong answers"),
        ("outside_auroc", "AUROC none of these"),
    ):
        for name, measure_label in MEASURES.items():
            measure = getattr(metrics.uncertainty, name)
            cells[f"{label}: {measure_label}"] = _auroc(measure, kind)
    cells["temperature"] = _temperature(metrics)
    return cells


def percent(estimate: Estimate) -> str:
    """Format a mean with its interval in percent, such as 95.12 ± 0.30."""
    return with_interval(f"{100 * estimate.mean:.2f}", estimate.ci95, 100)


def _estimate(estimate: Estimate) -> str:
    return with_interval(f"{estimate.mean:.4f}", estimate.ci95, digits=4)


def _calibration(error: CalibrationError) -> str:
    if error.ci95 is None:
        return f"{error.value:.4f} ({NO_INTERVAL})"
    low, high = error.ci95
    return f"{error.value:.4f} ({low:.4f} to {high:.4f})"


def _auroc(measure: UncertaintyMeasure | None, kind: str) -> str:
    if measure is None:
        return NONE
    auroc: Auroc | None = getattr(measure, kind)
    if auroc is None:
        return NONE
    return with_interval(f"{auroc.value:.3f}", auroc.ci95, digits=3)


def _temperature(metrics: Metrics) -> str:
    if metrics.temperature is None:
        return NONE
    return f"{metrics.temperature:.3f}"


def _cell(text: str) -> str:
    return escape(printable(text))


def evaluation_table(results: EvaluationResults) -> Table:
    """Make the table of a model's metrics by predictor; the data and the protocol are its title."""
    table = Table(title=f"{_cell(results.data)}\n{_cell(results.protocol_text)}")
    if results.predictive.accuracy.ci95 is None:
        table.caption = ONE_TASK
    table.add_column("")
    for predictor in results.metrics:
        table.add_column(predictor.label, justify="right")
    for label, cells in metric_rows(results):
        table.add_row(label, *cells)
    return table


def comparison_table(comparison: Comparison) -> Table:
    """Make the table of first minus second, on the same tasks and over training seeds."""
    text = comparison.protocol["text"]
    caption = f"Paired intervals hold for {_models(comparison)} and tasks from these classes."
    if comparison.paired["accuracy"].ci95 is None:
        caption = ONE_TASK
    title = f"{_cell(comparison.data)}\n{_cell(text)}\nfirst - second"
    table = Table(title=title, caption=caption)
    table.add_column("")
    for column in ("first", "second", "paired difference", "difference over training seeds"):
        table.add_column(column, justify="right")
    # Accuracies are shown in percent, the other metrics as they are.
    for name, label, unit in (
        ("accuracy", "accuracy, %", 100),
        ("nll", "NLL", 1),
        ("brier", "Brier score", 1),
    ):
        seeds = comparison.seeds[name]
        table.add_row(
            label,
            _seed_means(seeds.first, unit),
            _seed_means(seeds.second, unit),
            _difference(comparison.paired[name], unit),
            _difference(seeds.difference, unit),
        )
    ece = comparison.paired_ece
    if ece is not None:
        interval = NO_INTERVAL
        if ece.ci95 is not None:
            low, high = ece.ci95
            interval = f"{low:+.4f} to {high:+.4f}"
        table.add_row("ECE", "", "", f"{ece.mean:+.4f} ({interval})", "")
    return table


def _models(comparison: Comparison) -> str:
    first = len(comparison.first)
    second = len(comparison.second)
    if first == second == 1:
        return "these two models"
    return f"these {first} and {second} models"


def _digits(unit: int) -> int:
    """Return the decimals of a number: percent (unit 100) have two, others four."""
    if unit == 100:
        return 2
    return 4


def _seed_means(seeds: SeedMeans, unit: int) -> str:
    digits = _digits(unit)
    mean = f"{unit * seeds.mean:.{digits}f}"
    if seeds.std is None:
        return mean
    return f"{mean} (std {unit * seeds.std:.{digits}f})"


def _difference(difference: Estimate | None, unit: int) -> str:
    if difference is None:
        return "needs two seeds of each"
    digits = _digits(unit)
    mean = f"{unit * difference.mean:+.{digits}f}"
    return with_interval(mean, difference.ci95, unit, digits)
