"""How a fitted classifier looks in a notebook: its classes, with an example and a count of each."""

import base64
import io
from collections.abc import Mapping
from html import escape
from pathlib import Path
from typing import Any

from samovar.classifier.labelled_images import LabelledImages
from samovar.classifier.leave_one_out import LeaveOneOut
from samovar.classifier.loading import Fitted
from samovar.data.images.image_file import ImageFile
from samovar.data.images.pictures import shown_picture
from samovar.errors import DataError

MOST_CLASSES = 40
"""Classes that are shown; of more only the number."""
SIDE = 64
"""Pixels of an example."""
STYLE = (
    "display:inline-block;vertical-align:top;width:6.5em;margin:.3em;text-align:center;"
    "font-size:.85em;overflow-wrap:anywhere"
)


def first_files(support: LabelledImages) -> dict[Any, str]:
    """Return the path of the first image of each class, where the images are files."""
    examples: dict[Any, str] = {}
    if support.file_names is None:
        return examples
    for file, label in zip(support.images, support.labels.tolist(), strict=True):
        examples.setdefault(label, file.name)
    return examples


def fitted_html(fitted: Fitted, examples: Mapping[Any, str], measured: LeaveOneOut | None) -> str:
    """Return the classes as HTML, with how well their images are answered by each other."""
    classes = fitted.task.classes
    counts = fitted.task.counts.tolist()
    cells = []
    for label, count in list(zip(classes, counts, strict=True))[:MOST_CLASSES]:
        name = escape(str(label))
        images = "1 image" if count == 1 else f"{count} images"
        picture = _thumbnail(examples.get(label))
        cells.append(f'<span style="{STYLE}">{picture}<b>{name}</b><br>{images}</span>')
    summary = f"{len(classes)} classes, {sum(counts)} images"
    if len(classes) == 1:
        summary = f"1 class, {sum(counts)} images"
    if len(classes) > MOST_CLASSES:
        summary += f", of which the first {MOST_CLASSES} classes are shown"
    if measured is not None and len(classes) > 1:
        summary += f"; leave-one-out: {measured.accuracy:.0%} of {measured.images} right"
    return f"<div><p>{summary}</p>{''.join(cells)}</div>"


def _thumbnail(path: str | None) -> str:
    """Return a small picture of a file; nothing if it is not there any more."""
    if path is None or not Path(path).is_file():
        return ""
    try:
        picture = shown_picture(ImageFile.at(Path(path)).read(), path, SIDE)
    except DataError:
        return ""
    buffer = io.BytesIO()
    picture.save(buffer, "JPEG", quality=85)
    data = base64.b64encode(buffer.getvalue()).decode()
    return f'<img alt="" src="data:image/jpeg;base64,{data}"><br>'
