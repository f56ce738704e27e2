"""One table over the evaluations of many models."""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.table import Table

from samovar.core.files import write_whole
from samovar.core.storage import local_file, local_folder, shown
from samovar.evaluation.metrics import Estimate, with_interval
from samovar.evaluation.stored_evaluation import StoredEvaluation

SUMMARY = "evaluations.json"


@dataclass(frozen=True)
class EvaluationRow:
    """The evaluation of one model under one protocol."""

    model: str
    folder: str
    protocol: dict[str, Any]
    accuracy: Estimate
    nll: Estimate

    @classmethod
    def read(cls, model: Path, folder: Path) -> "EvaluationRow":
        """Read the evaluation in a folder, which may be an address."""
        with local_folder(folder) as local:
            stored = StoredEvaluation.read(local)
        accuracy = Estimate.of(stored.metrics["accuracy"])
        nll = Estimate.of(stored.metrics["nll"])
        return cls(str(model), shown(folder), stored.protocol, accuracy, nll)

    def to_json(self) -> dict[str, Any]:
        """Return the entry of evaluations.json."""
        metrics = {"accuracy": self.accuracy.to_json(), "nll": self.nll.to_json()}
        return {"model": self.model, "folder": self.folder, "protocol": self.protocol} | metrics


def report_evaluations(evaluations: Sequence[tuple[Path, Path]], out: Path | None) -> None:
    """Print a row for each model and the folder of its evaluation; write them as JSON into OUT."""
    rows = [EvaluationRow.read(model, folder) for model, folder in evaluations]
    Console().print(_table(rows))
    if out is not None:
        with local_file(out / SUMMARY) as file:
            content = json.dumps([row.to_json() for row in rows], indent=1)
            write_whole(file, content.encode())
        print(f"Written: {shown(out / SUMMARY)}")


def _table(rows: Sequence[EvaluationRow]) -> Table:
    table = Table(caption="± is a 95 % interval over tasks.")
    for column in ("model", "tasks", "accuracy, %", "NLL", "folder"):
        table.add_column(column, overflow="fold")
    for row in rows:
        table.add_row(
            row.model,
            f"{row.protocol['way']}-way {row.protocol['shot']}-shot",
            with_interval(f"{100 * row.accuracy.mean:.2f}", row.accuracy.ci95, 100),
            with_interval(f"{row.nll.mean:.3f}", row.nll.ci95, digits=3),
            row.folder,
        )
    return table
