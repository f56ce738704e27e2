"""The rows of other methods that Tables 3, 4 and 5 of the paper quote.

They are data with their source: nothing of them was run here, and their networks, protocols and
training data differ from ours as the notes say.
"""

import csv
from dataclasses import asdict, dataclass
from importlib.resources import files
from typing import Any

from samovar.experiments.markdown import table_head, table_row
from samovar.settings.checked import checked

FILE = "quoted_rows.csv"


@dataclass(frozen=True)
class QuotedRow:
    """A method with its published accuracies in percent; intervals are given by most."""

    table: str
    method: str
    source: str
    features: str
    five_shot: float
    five_shot_ci95: float | None
    one_shot: float
    one_shot_ci95: float | None
    protocol: str
    notes: str

    def to_json(self) -> dict[str, Any]:
        """Return the row as a JSON file holds it."""
        return asdict(self)


def quoted_rows(table: str) -> list[QuotedRow]:
    """Return the rows that a table quotes, in the paper's order.

    >>> quoted_rows("table4")[1].method
    'TADAM'
    """
    text = files(__package__).joinpath(FILE).read_text(encoding="utf-8")
    rows = []
    for entries in csv.DictReader(text.splitlines()):
        if entries["table"] == table:
            rows.append(_row(entries))
    return rows


def _row(entries: dict[str, str]) -> QuotedRow:
    numbers: dict[str, float | None] = {}
    for name in ("five_shot", "five_shot_ci95", "one_shot", "one_shot_ci95"):
        numbers[name] = float(entries[name]) if entries[name] else None
    return checked(QuotedRow, entries | numbers)


def quoted_lines(rows: list[QuotedRow]) -> list[str]:
    """Return the rows as a table in Markdown, with a sentence on what they are."""
    lines = [
        "Other methods, as the paper quotes them. None was run here, and networks, training data "
        "and protocols differ:",
        "",
        *table_head(["method", "source", "features", "5-shot", "1-shot", "test", "notes"]),
    ]
    for row in rows:
        five_shot = _accuracy(row.five_shot, row.five_shot_ci95)
        one_shot = _accuracy(row.one_shot, row.one_shot_ci95)
        cells = [row.method, row.source, row.features, five_shot, one_shot]
        lines.append(table_row([*cells, row.protocol, row.notes]))
    return lines


def _accuracy(accuracy: float, ci95: float | None) -> str:
    if ci95 is None:
        return f"{accuracy:.1f}"
    return f"{accuracy:.1f} ± {ci95:.1f}"
