"""How good a task is on labelled images, for the terminal and as CSV.

Everything fits into 80 columns: sentences first, then the classes, then which class was taken for
which, and the images whose answers were sure and wrong.
"""

import csv
from typing import Any, TextIO

from rich.console import Console
from rich.markup import escape
from rich.table import Table

from samovar.classifier.score_report import ScoreReport, Share
from samovar.core.text import csv_cell
from samovar.reporting.terminal import printable, shortened

LABEL_WIDTH = 20
NAME_WIDTH = 30
MOST_CLASSES = 50
"""Classes in the table of classes."""
MOST_COLUMNS = 12
"""Classes in the table of confusions; of more, only the most frequent confusions are listed."""
MOST_MISTAKES = 10
MOST_CONFUSIONS = 10
COLUMNS = ["image", "truth", "label", "right", "probability", "best", "rejected"]


def print_score(console: Console, report: ScoreReport, noun: str = "images") -> None:
    """Print everything; `noun` is what the images are called."""
    for sentence in sentences(report, noun):
        console.print(sentence, markup=False, highlight=False)
    console.print()
    console.print(class_table(report))
    if report.others:
        note = f"* no class of the task: {report.reject_label} is the right answer"
        console.print(note, markup=False, highlight=False)
    if len(report.classes) + len(report.others) <= MOST_COLUMNS:
        console.print()
        console.print(confusion_table(report))
    elif report.confusions:
        console.print("\nMost often taken for another:")
        for truth, answer, count in report.confusions[:MOST_CONFUSIONS]:
            line = f"  {_label(truth)} was answered {_label(answer)}: {count}"
            console.print(line, markup=False, highlight=False, no_wrap=True)
    _print_mistakes(console, report)


def sentences(report: ScoreReport, noun: str) -> list[str]:
    """Return the results in plain words."""
    lines = []
    accuracy = report.accuracy
    if accuracy.images:
        lines.append(
            f"{accuracy.count} of {accuracy.images} {noun} are right: {_interval(accuracy)}."
        )
    missed = report.missed
    if missed.count:
        lines.append(
            f"{missed.count} of {missed.images} that belong to a class were called "
            f"{report.reject_label} (counted as wrong)."
        )
    honesty = report.honesty
    if honesty is not None:
        lines.append(
            f"Its best class had a probability of {honesty.mean_probability:.0%} on average, and "
            f"was right in {honesty.best.value:.0%}: {honesty.words} "
            f"(calibration error, ECE: {honesty.ece:.3f})."
        )
    others = report.others_rejected
    if others.images:
        lines.append(
            f"{others.count} of {others.images} {noun} of other classes were called "
            f"{report.reject_label}, as they should be: {_interval(others)}."
        )
    return lines


def _interval(share: Share) -> str:
    """Return a share with its interval.

    >>> _interval(Share(9, 10))
    '90.0 % (95 % interval 59.6 to 98.2 %)'
    """
    low, high = share.ci95
    return f"{100 * share.value:.1f} % (95 % interval {100 * low:.1f} to {100 * high:.1f} %)"


def class_table(report: ScoreReport) -> Table:
    """Return a table with the accuracy within each class."""
    table = Table(box=None, pad_edge=False)
    table.add_column("class", no_wrap=True)
    table.add_column("images", justify="right", no_wrap=True)
    table.add_column("right", justify="right", no_wrap=True)
    table.add_column("share", justify="right", no_wrap=True)
    table.add_column("95 % interval", justify="right", no_wrap=True)
    table.add_column("most often taken for", no_wrap=True)
    names = [*report.classes, *report.others]
    for name in names[:MOST_CLASSES]:
        share = report.of_class(name)
        mark = " *" if name in report.others else ""
        cells = [escape(_label(name)) + mark, str(share.images), str(share.count)]
        if share.images:
            low, high = share.ci95
            cells += [f"{share.value:.0%}", f"{low:.0%} to {high:.0%}"]
        else:
            cells += ["-", "-"]
        cells.append(escape(_taken_for(report, name)))
        table.add_row(*cells)
    if len(names) > MOST_CLASSES:
        table.add_row(f"... and {len(names) - MOST_CLASSES} more")
    return table


def _taken_for(report: ScoreReport, name: Any) -> str:
    """Return the wrong answer that a class got most often."""
    names = [*report.classes, *report.others]
    answers = [*report.classes, report.reject_label]
    row = names.index(name)
    right = min(row, len(report.classes))  # the last column is right for all others
    counts = report.counts[row].copy()
    counts[right] = 0
    if not counts.any():
        return ""
    return f"{_label(answers[int(counts.argmax())], 16)} {int(counts.max())}"


def confusion_table(report: ScoreReport) -> Table:
    """Return how often each class got each answer; the columns are numbered like the rows."""
    table = Table(box=None, pad_edge=False, title="truth by answer", title_justify="left")
    table.add_column("", justify="right", no_wrap=True)
    table.add_column("truth", no_wrap=True)
    for number in range(1, len(report.classes) + 1):
        table.add_column(str(number), justify="right", no_wrap=True)
    table.add_column("none", justify="right", no_wrap=True)
    for row, name in enumerate([*report.classes, *report.others]):
        right = min(row, len(report.classes))
        position = str(row + 1) if row < len(report.classes) else "*"
        cells = [position, escape(_label(name, 16))]
        for column, count in enumerate(report.counts[row].tolist()):
            text = str(count) if count else "."
            cells.append(f"[bold]{text}[/]" if column == right else text)
        table.add_row(*cells)
    return table


def _print_mistakes(console: Console, report: ScoreReport) -> None:
    mistakes = report.mistakes
    if not mistakes:
        return
    console.print("\nSure and wrong first:")
    for image in mistakes[:MOST_MISTAKES]:
        name = shortened(printable(str(image.image)), NAME_WIDTH)
        answer = f"{_label(image.label, 16)} {image.probability:.0%}"
        if image.rejected:
            answer = _label(image.label, 16)
        line = f"  {name:<{NAME_WIDTH}} {_label(image.truth, 16)}, answered {answer}"
        console.print(line, markup=False, highlight=False, no_wrap=True)
    if len(mistakes) > MOST_MISTAKES:
        console.print(f"  ... and {len(mistakes) - MOST_MISTAKES} more (--csv lists all)")


def write_score_csv(file: TextIO, report: ScoreReport) -> None:
    """Write a line for each image."""
    writer = csv.writer(file)
    writer.writerow(COLUMNS)
    for image in report.images:
        right = image.label == image.truth
        if image.truth in report.others:
            right = image.rejected
        cells = [csv_cell(str(image.image)), csv_cell(str(image.truth)), csv_cell(str(image.label))]
        cells += [str(right), f"{image.probability:.6f}", csv_cell(str(image.best))]
        writer.writerow([*cells, str(image.rejected)])


def _label(name: Any, width: int = LABEL_WIDTH) -> str:
    return shortened(printable(str(name)), width)
