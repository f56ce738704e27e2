"""What `samovar fit`, `predict` and `task` do: folders and files in, task files, tables, JSON, CSV and pictures out."""

import csv
import io
import json
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray
from rich.console import Console
from rich.markup import escape
from rich.table import Table

from samovar.classifier.estimator import FewShotClassifier
from samovar.classifier.task_file import read_task
from samovar.core.files import output_folder, write_whole
from samovar.data.images.decode import EXTENSIONS
from samovar.data.images.user_images import Unreadable, labelled_folder, readable
from samovar.errors import DataError, ModelError
from samovar.reporting.figures.answers import answers_figure

SHOWN = 3
"""Classes whose probability a row of the table shows."""


def fit_folder(
    support: Path,
    task: Path,
    *,
    add: bool,
    device: str,
    reject: float | Literal["auto", "never"],
    **parameters: Any,
) -> int:
    """Fit to a folder, or add it to a task; write the task file, and say how well the support answers for itself."""
    paths, names = labelled_folder(support)
    output_folder(task.parent)
    if add:
        classifier = FewShotClassifier.load(task, device=device)
    else:
        asked = None if isinstance(reject, str) else reject
        classifier = FewShotClassifier(device=device, reject=asked, **parameters)
        classifier.begin()
        if reject == "auto" and classifier.saved_.rejection is not None:
            classifier.reject = 0.05
    conversion = classifier.saved_.conversion
    if conversion is None:
        raise ModelError(
            f"The model {classifier.model} takes feature vectors; use FewShotClassifier from Python."
        )
    good, arrays, bad = readable(paths, conversion)
    label = dict(zip(paths, names, strict=True))
    if lost := sorted(set(names) - {label[path] for path in good}):
        reason = next(each.reason for each in bad if label[each.path] == lost[0])
        raise DataError(f"No image of the class {lost[0]!r} can be read: {reason}")
    # Already converted as the model wants them: the same file is not decoded twice, nor inverted twice.
    classifier.add_converted(arrays, [label[path] for path in good])
    note = classifier.rejection_note  # complains before anything is written
    classifier.save(task)
    report = {"task": str(task), **_summary(classifier)}
    table = _task_table(report)
    Console().print(table)
    unable = "; this model has no thresholds" if classifier.saved_.rejection is None else ""
    print(f"Rejection: {note}{unable}.")
    print(f"Written: {task}. Next: samovar predict {task} IMAGE...")
    return _complain(bad)


def _summary(classifier: FewShotClassifier) -> dict[str, Any]:
    counts = dict(
        zip(map(str, classifier.classes_.tolist()), classifier.task_.counts.tolist(), strict=True)
    )
    return {
        "model": str(classifier.model),
        "classes": counts,
        "leave_one_out": classifier.leave_one_out(),
        "parameters": {
            name: getattr(classifier, name)
            for name in ("samples", "reject", "reject_label", "seed")
        },
    }


def _task_table(report: dict[str, Any]) -> Table:
    loo = report["leave_one_out"]
    caption = "leave-one-out: not measured (it needs two images of a class, and the fit itself)"
    if loo is not None:
        found = [f"{loo['accuracy']:.0%} right"] if len(report["classes"]) > 1 else []
        found += [] if loo["rejected"] is None else [f"{loo['rejected']:.0%} rejected"]
        caption = f"leave-one-out on {loo['images']} support images: {', '.join(found) or 'one class, none rejected'}"
    table = Table(
        title=f"{escape(plain(report['task']))} (model {escape(plain(report['model']))})",
        caption=caption,
    )
    table.add_column("class")
    table.add_column("images", justify="right")
    for name, count in list(report["classes"].items())[:50]:
        table.add_row(escape(plain(name)), str(count))
    if len(report["classes"]) > 50:
        table.add_row(f"... and {len(report['classes']) - 50} more", "")
    return table


def plain(text: str) -> str:
    """Text without line breaks and control characters, as a terminal may be shown it."""
    return "".join(character if character.isprintable() else "?" for character in text)


def predict_files(
    task: Path,
    images: Sequence[Path],
    *,
    as_json: bool,
    as_csv: bool,
    picture: Path | None,
    model: str | None,
    device: str,
    seed: int | None,
    out: Path | None,
) -> int:
    """Answer image files by a task; returns the exit code."""
    for folder in (out, None if picture is None else picture.parent):
        if folder is not None:
            output_folder(folder)
    classifier = FewShotClassifier.load(task, model, device)
    if seed is not None:
        classifier.seed = seed
    if classifier.saved_.conversion is None:
        raise ModelError(
            f"The model of {task} takes feature vectors; use FewShotClassifier from Python."
        )
    good, arrays, bad = readable(_files(images), classifier.saved_.conversion)
    rows = answer_rows(classifier, good, arrays)
    if out is not None:
        write_whole(out / "predictions.json", json.dumps(rows, indent=1).encode())
    if picture is not None and rows:
        write_whole(picture, answers_figure(np.stack(arrays), rows))
    if as_json:  # printed last: whoever reads may stop reading
        print(json.dumps(rows, indent=1))
    elif as_csv:
        _write_csv(classifier, rows)
    else:
        Console().print(_table(rows, classifier))
    return _complain(bad)


def _files(images: Sequence[Path]) -> list[Path]:
    """The files, and the images in the folders."""
    found: list[Path] = []
    for path in images:
        inside = (
            sorted(each for each in path.iterdir() if each.suffix.lower() in EXTENSIONS)
            if path.is_dir()
            else [path]
        )
        found += inside
    if not found:
        inner = [each for path in images for each in path.iterdir() if each.is_dir()]
        there = f" Name the folders inside: {inner[0]}, ..." if inner else ""
        raise DataError(f"There are no images to label in {', '.join(map(str, images))}.{there}")
    return found


Rows = list[dict[str, Any]]


def answer_rows(
    classifier: FewShotClassifier, paths: list[Path], arrays: list[NDArray[np.uint8]]
) -> Rows:
    """An entry for each image, as `samovar predict --json` has them."""
    if not paths:
        return []
    labels, probabilities, uncertainty, rejected, distance = classifier.answer_converted(arrays)
    names = [str(name) for name in classifier.classes_.tolist()]
    information = uncertainty.mutual_information
    return [
        {
            "image": str(path),
            "label": str(labels[i]),
            "best": names[int(probabilities[i].argmax())],
            "probabilities": dict(zip(names, probabilities[i].tolist(), strict=True)),
            "entropy": float(uncertainty.entropy[i]),
            "mutual_information": None if information is None else float(information[i]),
            "rejected": bool(rejected[i]),
            "distance": float(distance[i]),
        }
        for i, path in enumerate(paths)
    ]


def _table(rows: list[dict[str, Any]], classifier: FewShotClassifier) -> Table:
    note = f"Rejection: {escape(classifier.rejection_note)}. Far: 1 - the cosine to the nearest class mean, by which is "
    note += "rejected. MI: mutual information of label and classifier, in nats."
    table = Table(caption=note)
    table.add_column("image", overflow="fold")
    table.add_column("answer", overflow="fold")
    table.add_column("probability")
    table.add_column("far", justify="right")
    table.add_column("MI", justify="right")
    for row in rows:
        best = sorted(row["probabilities"].items(), key=lambda each: -each[1])[:SHOWN]
        bars = "\n".join(
            f"{'█' * round(6 * p):<6} {p:4.0%} {escape(plain(name))}" for name, p in best
        )
        answer = escape(plain(row["label"]))
        information = (
            "-" if row["mutual_information"] is None else f"{row['mutual_information']:.3f}"
        )
        style = f"[bold red]{answer}[/]" if row["rejected"] else answer
        table.add_row(
            escape(plain(row["image"])), style, bars, f"{row['distance']:.3f}", information
        )
    return table


def _write_csv(classifier: FewShotClassifier, rows: list[dict[str, Any]]) -> None:
    names = [str(name) for name in classifier.classes_.tolist()]
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(errors="backslashreplace")  # file names need not be text
    writer = csv.writer(sys.stdout)
    writer.writerow(
        ["image", "label", "best", "rejected", "distance", "entropy", "mutual_information", *names]
    )
    for row in rows:
        information = row["mutual_information"]
        first = [row["image"], row["label"], row["best"], row["rejected"]]
        first += [f"{row[name]:.6f}" for name in ("distance", "entropy")]
        first.append("" if information is None else f"{information:.6f}")
        writer.writerow([*first, *(f"{row['probabilities'][name]:.6f}" for name in names)])


def _complain(bad: list[Unreadable]) -> int:
    """Name what was skipped on standard error; the exit code is 1 if anything was."""
    for each in bad:
        print(f"samovar: skipped: {plain(each.reason)}", file=sys.stderr)
    return 1 if bad else 0


def show_task(path: Path, *, as_json: bool) -> None:
    """What is inside a task file, without loading its model."""
    task, info = read_task(path)
    report = {
        "task": str(path),
        "model": info.model,
        "identity": info.identity,
        "classes": dict(zip(map(str, task.classes), task.counts.tolist(), strict=True)),
        "parameters": info.parameters,
        "leave_one_out": info.leave_one_out,
        "bytes": path.stat().st_size,
    }
    if as_json:
        print(json.dumps(report, indent=1))
    else:
        Console().print(_task_table(report))
