"""What `samovar check` prints."""

from collections.abc import Sequence
from typing import Any

from rich.console import Console

from samovar.classifier.check_report import CheckReport
from samovar.reporting.check_page import camera_text, summary
from samovar.reporting.terminal import printable, shortened

MOST_LINES = 12
"""Lines of each kind; the page has all."""
NAME_WIDTH = 34
LABEL_WIDTH = 18


def print_check(console: Console, report: CheckReport) -> None:
    """Print what was found, at most a few lines of each kind."""
    suspects = []
    for suspect in report.suspects:
        label = f"{_label(suspect.label)}? {_label(suspect.answer)}"
        suspects.append(f"{_name(suspect.image)}  {label}  (wrong: {suspect.wrong:.0%})")
    _print_lines(console, "Probably wrong labels:", suspects)
    groups = []
    for group in report.duplicates or ():
        names = ", ".join(_name(image) for image in group.images[:3])
        more = len(group.images) - 3
        text = f"{names} and {more} more" if more > 0 else names
        groups.append(f"{text} (in two classes)" if group.across else text)
    _print_lines(console, "Duplicates:", groups)
    pairs = []
    for pair in report.mixed:
        share = f"{pair.mistakes} of {pair.images} images"
        pairs.append(f"{_label(pair.first)} and {_label(pair.second)}: {share}")
    _print_lines(console, "Classes that cannot be told apart:", pairs)
    small = [f"{_label(entry.label)}: {entry.images}" for entry in report.small]
    _print_lines(console, "Classes with too few different images:", small)
    if report.camera is not None:
        console.print(camera_text(report), markup=False, highlight=False)
    console.print(summary(report), markup=False, highlight=False)


def _print_lines(console: Console, title: str, lines: Sequence[str]) -> None:
    if not lines:
        return
    console.print(title)
    for line in lines[:MOST_LINES]:
        console.print(f"  {line}", markup=False, highlight=False, soft_wrap=True)
    if len(lines) > MOST_LINES:
        console.print(f"  ... and {len(lines) - MOST_LINES} more")


def _name(image: Any) -> str:
    return shortened(printable(str(image)), NAME_WIDTH)


def _label(label: Any) -> str:
    return shortened(printable(str(label)), LABEL_WIDTH)
