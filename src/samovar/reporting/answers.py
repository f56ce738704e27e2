"""Answers to a user's images: rows of JSON, a table for the terminal, and CSV.

The table has one line for each image, whatever the width of the terminal: the answer with its
probability, and the second choice where it matters. All else is in JSON and CSV.
"""

import csv
import dataclasses
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TextIO

from rich.markup import escape
from rich.table import Table

from samovar.classifier.answer import Answer
from samovar.classifier.labelled_images import relative_names
from samovar.classifier.sets import PredictedSets
from samovar.core.text import csv_cell
from samovar.data.images.user_images import Unreadable
from samovar.reporting.terminal import printable, shortened

BAR = 6
"""The length of the bar of a probability of one, in characters."""
SECOND = 0.05
"""A second choice is named if it is more probable than this."""
DOUBTFUL = 0.5
"""Answers that are less probable than this are called doubtful."""
NAME_WIDTH = 28
"""Characters of the name of an image; longer ones are cut in the middle."""
LABEL_WIDTH = 18
"""Characters of the name of a class."""
NO_LABEL = "none of these"
"""What an empty set means."""
MOST_IN_SET = 2
"""Names of a set that a line has room for."""
SEPARATOR = "; "
"""Between the names of a set in a cell of CSV."""
COLUMNS = [
    "image",
    "label",
    "probability",
    "best",
    "rejected",
    "distance",
    "entropy",
    "mutual_information",
]
"""The columns of the CSV before those of the classes, which are called p(class)."""


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
    set: list[str] | None = None
    """The names in its prediction set, the most probable first; None if no sets were asked for."""
    set_by: dict[str, Any] | None = None
    """How the set was made, and what is guaranteed of it."""

    @property
    def probability(self) -> float:
        """The probability of the most probable class."""
        return max(self.probabilities.values())

    @property
    def second(self) -> tuple[str, float] | None:
        """The second choice with its probability; None with a single class."""
        others = [item for item in self.probabilities.items() if item[0] != self.best]
        if not others:
            return None
        return max(others, key=lambda item: item[1])

    def to_json(self) -> dict[str, Any]:
        """Return the row as JSON holds it; `set` and `set_by` only where sets were asked for."""
        stored = dataclasses.asdict(self)
        if self.set is None:
            del stored["set"], stored["set_by"]
        return stored


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


def with_sets(
    rows: Sequence[AnswerRow], answer: Answer, sets: PredictedSets, classes: Sequence[Any]
) -> list[AnswerRow]:
    """Return the rows with the prediction set of each image."""
    names = [str(label) for label in classes]
    listed = sets.listed(answer.probabilities, names)
    made = sets.to_json()
    return [
        dataclasses.replace(row, set=names_in_set, set_by=made)
        for row, names_in_set in zip(rows, listed, strict=True)
    ]


def json_entries(
    rows: Sequence[AnswerRow], positions: Sequence[int], unreadable: Sequence[Unreadable]
) -> list[dict[str, Any]]:
    """Return an entry for each image in the order given; unreadable ones have only an error.

    `positions` are those of the rows among all images.
    """
    entries: list[dict[str, Any]] = []
    rest = iter(unreadable)
    for row, position in zip(rows, positions, strict=True):
        while len(entries) < position:
            entries.append(_error_entry(next(rest)))
        entries.append(row.to_json())
    return entries + [_error_entry(image) for image in rest]


def _error_entry(image: Unreadable) -> dict[str, str]:
    return {"image": str(image.path), "error": image.reason}


def answers_table(rows: Sequence[AnswerRow], *, explain: bool = False) -> Table:
    """Return a table for the terminal, with one line for each image.

    With `explain` it also has the distance and the mutual information of each.
    """
    table = Table(box=None, pad_edge=False)
    table.add_column("image", no_wrap=True)
    table.add_column("answer", no_wrap=True)
    has_bar = explain or not rows or rows[0].set is None
    probability = "probability" if has_bar else "prob."
    table.add_column(probability, no_wrap=True, min_width=len("prob."))
    table.add_column(_fourth_column(rows, explain=explain), no_wrap=True)
    if explain:
        table.add_column("MI", justify="right", no_wrap=True)
    names = relative_names([Path(row.image) for row in rows])
    for row, name in zip(rows, names, strict=True):
        cells = [escape(shortened(printable(name), NAME_WIDTH)), _label(row), _bar(row.probability)]
        if row.rejected:
            cells[2] = ""
        if explain:
            cells += [f"{row.distance:.3f}", _number(row.mutual_information, "-", 3)]
        elif row.set is not None:
            if not row.rejected:
                cells[2] = f"{row.probability:4.0%}"  # there is no room for a bar
            cells.append(_shown_set(row.set))
        else:
            cells.append(_second(row))
        table.add_row(*cells)
    return table


def _fourth_column(rows: Sequence[AnswerRow], *, explain: bool) -> str:
    if explain:
        return "distance"
    if rows and rows[0].set_by is not None:
        return f"set of {100 * rows[0].set_by['confidence']:.6g} %"
    return "second choice"


def _shown_set(names: Sequence[str]) -> str:
    """Return the names in a set as far as a line has room; the others are counted."""
    if not names:
        return NO_LABEL
    shown = [escape(shortened(printable(name), LABEL_WIDTH - 5)) for name in names[:MOST_IN_SET]]
    text = ", ".join(shown)
    if len(names) > MOST_IN_SET:
        text += f" +{len(names) - MOST_IN_SET}"
    return text


def sets_footer(rows: Sequence[AnswerRow]) -> str:
    """Return how large the sets are, and what is guaranteed of them, in plain words."""
    sizes = [len(row.set) for row in rows if row.set is not None]
    if not sizes:
        return ""
    made = rows[0].set_by
    assert made is not None  # it comes with the set
    text = f"Sets have {sum(sizes) / len(sizes):.3g} classes on average"
    empty = sizes.count(0)
    if empty:
        text += f", and {empty} {_is(empty)} empty ({NO_LABEL})"
    return f"{text}. By {made['method']}: {printable(made['note'])}."


def _label(row: AnswerRow) -> str:
    label = escape(shortened(printable(row.label), LABEL_WIDTH))
    if row.rejected:
        return f"[bold red]{label}[/]"
    return label


def _bar(probability: float) -> str:
    bar = "█" * round(BAR * probability)
    return f"{bar:<{BAR}} {probability:4.0%}"


def _second(row: AnswerRow) -> str:
    """Return the second choice, or what a rejected image is most like."""
    if row.rejected:
        best = escape(shortened(printable(row.best), LABEL_WIDTH - 8))
        return f"nearest: {best}"
    second = row.second
    if second is None or second[1] <= SECOND:
        return ""
    label = escape(shortened(printable(second[0]), LABEL_WIDTH - 5))
    return f"{label} {second[1]:.0%}"


def answers_footer(rows: Sequence[AnswerRow], noun: str = "images") -> str:
    """Return what the answers are in all, in plain words.

    `noun` is what the images are called, such as photographs.
    """
    rejected = sum(row.rejected for row in rows)
    doubtful = sum(not row.rejected and row.probability < DOUBTFUL for row in rows)
    if len(rows) == 1:
        noun = noun.removesuffix("s")
    sentences = [f"{rejected} of {len(rows)} {noun} {_is(rejected)} none of these."]
    if not rejected:
        sentences = []
    if doubtful:
        sentences.append(
            f"{doubtful} of {len(rows)} {_is(doubtful)} doubtful: no class has {DOUBTFUL:.0%}."
        )
    return " ".join(sentences)


def _is(count: int) -> str:
    return "is" if count == 1 else "are"


def explanation(note: str, threshold: float | None, distance: str) -> str:
    """Return what rejection, distance and mutual information mean for a task, in sentences.

    Args:
        note: What rejection means for this task.
        threshold: The distance above which images are rejected; None if nothing is.
        distance: What the distance is, in words.
    """
    distance = f"Distance: {distance}"
    if threshold is not None:
        distance += f"; images with a distance above {threshold:.3f} are rejected"
    information = "MI: mutual information of label and classifier, in nats"
    return f"Rejection: {printable(note)}. {distance}. {information}."


def write_csv(file: TextIO, rows: Sequence[AnswerRow], classes: Sequence[Any]) -> None:
    """Write the answers as CSV, with a column p(class) for the probability of each class.

    Names are written so that no spreadsheet runs them as a formula (see `csv_cell`).
    """
    names = [str(label) for label in classes]
    writer = csv.writer(file)
    has_sets = bool(rows) and rows[0].set is not None
    header = [*COLUMNS, *(csv_cell(f"p({name})") for name in names)]
    if has_sets:
        header += ["set", "set_size"]
    writer.writerow(header)
    for row in rows:
        probability = "" if row.rejected else f"{row.probability:.6f}"
        line = [csv_cell(row.image), csv_cell(row.label), probability, csv_cell(row.best)]
        line += [str(row.rejected), f"{row.distance:.6f}", f"{row.entropy:.6f}"]
        line.append(_number(row.mutual_information, "", 6))
        line += [f"{row.probabilities[name]:.6f}" for name in names]
        if row.set is not None:
            line += [csv_cell(SEPARATOR.join(row.set)), str(len(row.set))]
        writer.writerow(line)


def _number(value: float | None, missing: str, digits: int) -> str:
    if value is None:
        return missing
    return f"{value:.{digits}f}"
