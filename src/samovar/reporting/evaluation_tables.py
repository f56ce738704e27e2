"""Tables of evaluations and comparisons.

The rows of an evaluation are plain text, so that the terminal and report.html show the same
numbers.
"""

from rich.markup import escape
from rich.table import Table

from samovar.core.text import printable
from samovar.evaluation.comparison import Comparison
from samovar.evaluation.differences import CalibrationDifference
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
    "energy": "energy",
    "distance": "distance",
}
"""The measures of uncertainty with their names in tables."""

COMPARED = {
    "accuracy": ("accuracy, %", 100),
    "nll": ("NLL", 1),
    "brier": ("Brier score", 1),
    "ece": ("ECE, pooled", 1),
    "gap": ("gap (+ too sure), points", 100),
}
"""The metrics of a comparison with their labels; those with the unit 100 are shown in percent."""

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
        "ECE, pooled": _calibration(metrics.ece),
        "gap (+ too sure), points": signed_points(metrics.gap),
        "ECE, mean over tasks": _estimate(metrics.ece_per_task),
    }
    for kind, label in (
        ("wrong_auroc", "AUROC wrong answers"),
        ("outside_auroc", "AUROC none of these"),
    ):
        for name, measure_label in MEASURES.items():
            measure = getattr(metrics.uncertainty, name)
            cells[f"{label}: {measure_label}"] = auroc_text(measure, kind)
    cells["temperature"] = temperature_text(metrics)
    return cells


def percent(estimate: Estimate) -> str:
    """Format a mean with its interval in percent, such as 95.12 ± 0.30."""
    return with_interval(f"{100 * estimate.mean:.2f}", estimate.ci95, 100)


def signed_points(difference: Estimate) -> str:
    """Format a signed mean with its interval in points, such as +3.12 ± 0.30."""
    return with_interval(f"{100 * difference.mean:+.2f}", difference.ci95, 100)


def _estimate(estimate: Estimate) -> str:
    return with_interval(f"{estimate.mean:.4f}", estimate.ci95, digits=4)


def _calibration(error: CalibrationError) -> str:
    if error.ci95 is None:
        return f"{error.value:.4f} ({NO_INTERVAL})"
    low, high = error.ci95
    return f"{error.value:.4f} ({low:.4f} to {high:.4f})"


def auroc_text(measure: UncertaintyMeasure | None, kind: str) -> str:
    """Format an AUROC of a measure, "wrong_auroc" or "outside_auroc", with its interval."""
    if measure is None:
        return NONE
    auroc: Auroc | None = getattr(measure, kind)
    if auroc is None:
        return NONE
    return with_interval(f"{auroc.value:.3f}", auroc.ci95, digits=3)


def temperature_text(metrics: Metrics) -> str:
    """Format the temperature of a tempered predictor."""
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
    for name, (label, unit) in COMPARED.items():
        # Calibration is known only where its bins were kept.
        if name in comparison.seeds:
            seeds = comparison.seeds[name]
            table.add_row(
                label,
                _seed_means(seeds.first, unit),
                _seed_means(seeds.second, unit),
                _paired(comparison, name, unit),
                _difference(seeds.difference, unit),
            )
    return table


def _paired(comparison: Comparison, name: str, unit: int) -> str:
    if name in comparison.paired:
        return _difference(comparison.paired[name], unit)
    ece = comparison.paired_ece
    assert ece is not None  # it is known where the errors of the seeds are
    return calibration_difference(ece)


def calibration_difference(difference: CalibrationDifference) -> str:
    """Format the difference of two calibration errors with its bounds."""
    if difference.ci95 is None:
        return f"{difference.mean:+.4f} ({NO_INTERVAL})"
    low, high = difference.ci95
    return f"{difference.mean:+.4f} ({low:+.4f} to {high:+.4f})"


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
