"""What `samovar sort` prints: where photos go, as a table and as JSON."""

from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.markup import escape
from rich.table import Table

from samovar.classifier.heap_sorter import PlannedPhoto, Undone
from samovar.classifier.labelled_images import relative_names
from samovar.reporting.terminal import printable, shortened

MOST_ROWS = 40
"""Photos that the table names."""
NAME_WIDTH = 34
FOLDER_WIDTH = 32


def print_plan(console: Console, photos: Sequence[PlannedPhoto], into: Path) -> None:
    """Print a line for each photo, and how many go into which folder."""
    names = relative_names([photo.image for photo in photos])
    table = Table(box=None, pad_edge=False)
    table.add_column("photo", no_wrap=True)
    table.add_column("sure", justify="right", no_wrap=True)
    table.add_column(f"into {escape(printable(str(into)))}", no_wrap=True)
    for photo, name in list(zip(photos, names, strict=True))[:MOST_ROWS]:
        cells = [shortened(printable(name), NAME_WIDTH), f"{photo.probability:.0%}"]
        cells.append(shortened(printable(photo.filing.target), FOLDER_WIDTH))
        table.add_row(*(escape(cell) for cell in cells))
    console.print(table)
    if len(photos) > MOST_ROWS:
        console.print(f"... and {len(photos) - MOST_ROWS} more (--json names all)")
    counts = Counter(photo.folder for photo in photos)
    parts = [f"{printable(folder)} {count}" for folder, count in counts.most_common()]
    console.print(f"{counted(len(photos))}: {', '.join(parts)}.", markup=False, highlight=False)


def counted(photos: int) -> str:
    """Return a number of photos in words.

    >>> counted(1), counted(2)
    ('1 photo', '2 photos')
    """
    return "1 photo" if photos == 1 else f"{photos} photos"


def plan_json(photos: Sequence[PlannedPhoto], into: Path, *, applied: bool) -> dict[str, Any]:
    """Return the plan as `samovar sort --json` prints it."""
    rows = []
    for photo in photos:
        row = {
            "image": str(photo.image),
            "label": photo.label,
            "probability": photo.probability,
            "target": str(into / photo.filing.target),
            "by": photo.filing.by,
        }
        rows.append(row)
    counts = Counter(photo.folder for photo in photos)
    return {"into": str(into), "applied": applied, "folders": dict(counts), "photos": rows}


def undone_text(undone: Undone, into: Path) -> list[str]:
    """Return sentences about what was undone, and what was left as it is."""
    sentences = [f"{counted(undone.photos)} taken back from {into}."]
    for filing in undone.left:
        sentences.append(
            f"left as it is: {into / filing.target} (somebody has changed it, or something else is "
            f"in the place of {filing.source})"
        )
    return sentences
