"""Answers to a user's images: rows of JSON, a table for the terminal, and CSV."""

import csv
import dataclasses
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TextIO

from rich.markup import escape
from rich.table import Table

from samovar.classifier.answer import Answer
from samovar.core.text import csv_cell
from samovar.reporting.terminal import printable

SHOWN = 3
"""The number of classes whose probability a row of the table shows."""
BAR = 6
"""The length of the bar of a probability of one, in characters."""
COLUMNS = ["image", "label", "best", "rejected", "distance", "entropy", "mutual_information"]
"""The columns of the CSV before those of the classes."""


@dataclass(frozen=True)
class AnswerRow:
    """The answer to one image, with the keys of `samovar predict --json`."""

    image: str
    label: str
    best: str
    """The most probable class, also where the image is rejected."""
    probabilities: dict[str, float]
    entropy: float
    mutual_information: float | None
    rejected: bool
    distance: float
    """How little the image belongs to the classes; see `Answer.distance`."""

    def to_json(self) -> dict[str, Any]:
        """Return the row as JSON holds it."""
        return dataclasses.asdict(self)


def answer_rows(paths: Sequence[Path], answer: Answer, classes: Sequence[Any]) -> list[AnswerRow]:
    """Return a row for each image, in the order given."""
    names = [str(label) for label in classes]
    information = answer.uncertainty.mutual_information
    rows = []
    for number, path in enumerate(paths):
        probabilities = answer.probabilities[number]
        row = AnswerRow(
            image=str(path),
            label=str(answer.labels[number]),
            best=names[int(probabilities.argmax())],
            probabilities=dict(zip(names, probabilities.tolist(), strict=True)),
            entropy=float(answer.uncertainty.entropy[number]),
            mutual_information=None if information is None else float(information[number]),
            rejected=bool(answer.rejected[number]),
            distance=float(answer.distance[number]),
        )
        rows.append(row)
    return rows


def answers_table(
    rows: Sequence[AnswerRow],
    note: str,
    threshold: float | None,
    distance: str = "1 - the cosine to the nearest class mean",
) -> Table:
    """Return a table for the terminal.

    Args:
        rows: The answers.
        note: What rejection means for this task.
        threshold: The distance above which images are rejected; None if nothing is.
        distance: What the distance is, in words.
    """
    table = Table(caption=_caption(note, threshold, distance))
    table.add_column("image", overflow="fold")
    table.add_column("answer", overflow="fold")
    table.add_column("probability")
    table.add_column("distance", justify="right")
    table.add_column("MI", justify="right")
    for row in rows:
        label = escape(printable(row.label))
        if row.rejected:
            label = f"[bold red]{label}[/]"
        information = "-"
        if row.mutual_information is not None:
            information = f"{row.mutual_information:.3f}"
        image = escape(printable(row.image))
        table.add_row(image, label, _bars(row.probabilities), f"{row.distance:.3f}", information)
    return table


def _caption(note: str, threshold: float | None, distance: str) -> str:
    distance = f"Distance: {distance}"
    if threshold is not None:
        distance += f"; images with a distance above {threshold:.3f} are rejected"
    information = "MI: mutual information of label and classifier, in nats"
    return f"Rejection: {escape(printable(note))}. {distance}. {information}."


def _bars(probabilities: dict[str, float]) -> str:
    """Return the most probable classes as lines with bars."""
    most_probable = sorted(probabilities.items(), key=lambda item: -item[1])[:SHOWN]
    lines = []
    for name, probability in most_probable:
        bar = "█" * round(BAR * probability)
        lines.append(f"{bar:<{BAR}} {probability:4.0%} {escape(printable(name))}")
    return "\n".join(lines)


def write_csv(file: TextIO, rows: Sequence[AnswerRow], classes: Sequence[Any]) -> None:
    """Write the answers as CSV, with a column for the probability of each class.

    Names are written so that no spreadsheet runs them as a formula (see `csv_cell`).
    """
    names = [str(label) for label in classes]
    writer = csv.writer(file)
    writer.writerow([*COLUMNS, *map(csv_cell, names)])
    for row in rows:
        information = ""
        if row.mutual_information is not None:
            information = f"{row.mutual_information:.6f}"
        line = [csv_cell(row.image), csv_cell(row.label), csv_cell(row.best), str(row.rejected)]
        line += [f"{row.distance:.6f}", f"{row.entropy:.6f}", information]
        line += [f"{row.probabilities[name]:.6f}" for name in names]
        writer.writerow(line)
