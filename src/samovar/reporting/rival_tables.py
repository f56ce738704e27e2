"""Tables of a model beside its rivals, a row for each method.

The rows are plain text, so that the terminal and report.html show the same numbers.
"""

from dataclasses import dataclass

from rich.table import Table

from samovar.evaluation.differences import PairedDifferences
from samovar.evaluation.metrics import with_interval
from samovar.evaluation.predictors import Predictor
from samovar.evaluation.results import EvaluationResults, Metrics, RivalResults
from samovar.evaluation.uncertainty import Uncertainty
from samovar.reporting.evaluation_tables import (
    NONE,
    auroc_text,
    calibration_difference,
    signed_points,
    temperature_text,
)

SHOWN_OF_MODEL = (
    Predictor.PREDICTIVE,
    Predictor.PREDICTIVE_TEMPERED,
    Predictor.CALIBRATED,
)
"""The model's own rows: what it answers, and the same with one more fitted number."""
MEASURES = {
    "max_probability": "probability",
    "energy": "energy",
    "mutual_information": "mutual inf.",
    "distance": "distance",
}
"""The measures of uncertainty whose AUROCs are shown, with their short names."""


@dataclass(frozen=True)
class TextTable:
    """A table of text: its title, the heads of its columns, and its rows."""

    title: str
    columns: list[str]
    rows: list[list[str]]

    def for_terminal(self) -> Table:
        """Return the table for the terminal."""
        table = Table(title=f"\n{self.title}", title_justify="left", box=None, pad_edge=False)
        table.add_column(self.columns[0], no_wrap=True)
        for column in self.columns[1:-1]:
            table.add_column(column, justify="right", no_wrap=True)
        # The last one may be wide; in a narrow terminal it is wrapped, and nothing is cut off.
        table.add_column(self.columns[-1], justify="right")
        for row in self.rows:
            table.add_row(*row)
        return table


def rival_tables(results: EvaluationResults) -> list[TextTable]:
    """Return the metrics of all methods, the differences, and what finds queries to doubt."""
    if results.rivals is None:
        return []
    methods = {}
    for predictor in SHOWN_OF_MODEL:
        if predictor in results.metrics:
            methods[predictor] = results.metrics[predictor]
    methods |= results.rivals.metrics
    tables = [_metrics_table(methods), _difference_table(results.rivals)]
    wrong = _auroc_table(methods, "wrong_auroc", "AUROC for wrong answers, by")
    outside = _auroc_table(methods, "outside_auroc", 'AUROC for "none of these", by')
    for table in (wrong, outside):
        if any(cell != NONE for row in table.rows for cell in row[1:]):
            tables.append(table)
    return tables


def _name(predictor: Predictor) -> str:
    """Return a short name, so that a table fits into 80 columns; tempered rows follow the plain."""
    if predictor.is_tempered:
        return "↳ tempered"
    if predictor == Predictor.PREDICTIVE:
        return "the model"
    if predictor == Predictor.CALIBRATED:
        return "↳ calibrated"
    return predictor.label


def _metrics_table(methods: dict[Predictor, Metrics]) -> TextTable:
    rows = []
    for predictor, metrics in methods.items():
        accuracy = metrics.accuracy
        rows.append(
            [
                _name(predictor),
                with_interval(f"{100 * accuracy.mean:.1f}", accuracy.ci95, 100, digits=1),
                f"{metrics.nll.mean:.3f}",
                f"{metrics.brier.mean:.3f}",
                f"{metrics.ece.value:.3f}",
                f"{100 * metrics.gap.mean:+.1f}",
                f"{metrics.ece_per_task.mean:.3f}",
                temperature_text(metrics),
            ]
        )
    columns = ["", "accuracy,\n%", "NLL", "Brier", "ECE,\npooled", "gap,\npoints"]
    columns += ["ECE\nby task", "temp."]
    title = "Beside simple rivals, on the same tasks and features (gap: + is too sure)"
    return TextTable(title, columns, rows)


def _difference_table(rivals: RivalResults) -> TextTable:
    rows = []
    for rival, difference in rivals.differences.items():
        rows.append([_name(rival), *_difference_cells(difference)])
    columns = ["", "accuracy,\npoints", "NLL", "Brier", "ECE, pooled"]
    title = "The model (sampled classifiers) minus each rival, task by task"
    return TextTable(title, columns, rows)


def _difference_cells(difference: PairedDifferences) -> list[str]:
    return [
        signed_points(difference.accuracy),
        with_interval(f"{difference.nll.mean:+.3f}", difference.nll.ci95, digits=3),
        with_interval(f"{difference.brier.mean:+.3f}", difference.brier.ci95, digits=3),
        calibration_difference(difference.ece),
    ]


def _auroc_table(methods: dict[Predictor, Metrics], kind: str, title: str) -> TextTable:
    rows = []
    for predictor, metrics in methods.items():
        rows.append([_name(predictor), *_auroc_cells(metrics.uncertainty, kind)])
    return TextTable(title, ["", *MEASURES.values()], rows)


def _auroc_cells(uncertainty: Uncertainty, kind: str) -> list[str]:
    return [auroc_text(getattr(uncertainty, measure), kind) for measure in MEASURES]
