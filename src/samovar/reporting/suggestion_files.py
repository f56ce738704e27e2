"""What to label next, as `samovar next` writes it: CSV, and tasks for Label Studio."""

import csv
import io
import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import quote
from xml.sax.saxutils import quoteattr

from rich.markup import escape
from rich.table import Table

from samovar.classifier.labelled_images import relative_names
from samovar.core.text import csv_cell
from samovar.reporting.answers import AnswerRow
from samovar.reporting.terminal import printable, shortened

COLUMNS = ("rank", "image", "guess", "probability", "score", "mutual_information", "rejected")
FROM_NAME = "label"
TO_NAME = "image"
"""The names of the control and of the picture in Label Studio's labelling configuration."""
NAME_WIDTH = 40
LABEL_WIDTH = 20


@dataclass(frozen=True)
class SuggestedImage:
    """An image to label next, with what is guessed so far."""

    row: AnswerRow
    score: float

    @property
    def uncertainty(self) -> float:
        """The mutual information of label and classifier; the entropy where there is only one."""
        if self.row.mutual_information is None:
            return self.row.entropy
        return self.row.mutual_information


def suggestions_table(suggested: Sequence[SuggestedImage]) -> Table:
    """Return a table for the terminal, the most telling image first."""
    table = Table(box=None, pad_edge=False)
    for title, justify in (("", "right"), ("label next", "left"), ("guess", "left"), ("", "right")):
        table.add_column(title, justify=justify, no_wrap=True)  # type: ignore[arg-type]
    names = relative_names([Path(image.row.image) for image in suggested])
    for number, (image, name) in enumerate(zip(suggested, names, strict=True), start=1):
        cells = [str(number), shortened(printable(name), NAME_WIDTH)]
        cells.append(shortened(printable(image.row.label), LABEL_WIDTH))
        cells.append("" if image.row.rejected else f"{image.row.probability:.0%}")
        table.add_row(*(escape(cell) for cell in cells))
    return table


def suggestions_csv(suggested: Sequence[SuggestedImage]) -> str:
    """Return the suggestions as CSV; no spreadsheet runs a name as a formula."""
    file = io.StringIO()
    writer = csv.writer(file)
    writer.writerow(COLUMNS)
    for rank, image in enumerate(suggested, start=1):
        row = image.row
        information = "" if row.mutual_information is None else f"{row.mutual_information:.6f}"
        cells = [str(rank), csv_cell(row.image), csv_cell(row.best), f"{row.probability:.6f}"]
        writer.writerow([*cells, f"{image.score:.6f}", information, str(row.rejected)])
    return file.getvalue()


def label_studio_tasks(suggested: Sequence[SuggestedImage], model: str, prefix: str) -> str:
    """Return the suggestions as tasks with predictions, in Label Studio's JSON.

    Args:
        suggested: The images, the most telling one first.
        model: What the predictions' `model_version` says.
        prefix: What comes before the absolute path of each image, without its first slash.
    """
    tasks = []
    for image in suggested:
        place = quote(str(Path(image.row.image).absolute()).lstrip("/"))
        choice: dict[str, Any] = {
            "from_name": FROM_NAME,
            "to_name": TO_NAME,
            "type": "choices",
            "value": {"choices": [image.row.best]},
        }
        prediction = {
            "model_version": model,
            "score": image.row.probability,
            "uncertainty": image.uncertainty,
            "result": [choice],
        }
        data = {TO_NAME: prefix + place, "uncertainty": image.uncertainty}
        tasks.append({"data": data, "predictions": [prediction]})
    return json.dumps(tasks, indent=1)


def label_studio_config(classes: Sequence[str]) -> str:
    """Return the labelling configuration that the tasks are for, in XML."""
    choices = [f"    <Choice value={quoteattr(label)}/>" for label in classes]
    lines = ["<View>", f'  <Image name="{TO_NAME}" value="${TO_NAME}"/>']
    lines.append(f'  <Choices name="{FROM_NAME}" toName="{TO_NAME}" choice="single">')
    return "\n".join([*lines, *choices, "  </Choices>", "</View>", ""])
