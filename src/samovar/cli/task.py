"""`samovar task`: show what is inside a task file."""

import dataclasses
import json as json_format
from pathlib import Path
from typing import Annotated

import tyro

from samovar.cli.task_argument import check_task

TaskPath = Annotated[Path, tyro.conf.Positional, tyro.conf.arg(metavar="TASK")]


def task(path: TaskPath, *, json: bool = False) -> None:
    """Show what is inside a task file: its model, its classes and how many images each has.

    Images that the others answer wrongly are named: their labels may be wrong.

    Args:
        path: A task file written by `samovar fit`.
        json: Print JSON.
    """
    check_task(path)

    from rich.console import Console

    from samovar.classifier.task_file import read_task
    from samovar.reporting.task_summary import TaskSummary, described_model

    fitted_task, info = read_task(path)
    model = described_model(info.model, info.encoder)
    summary = TaskSummary.of(path, model, fitted_task, info.leave_one_out, info.wrong)
    if info.held_out is not None:
        summary = dataclasses.replace(summary, held_out=len(info.held_out))
    if not json:
        summary.print_to(Console())
        return
    measured = None
    if info.leave_one_out is not None:
        measured = info.leave_one_out.to_json()
        if info.support is not None:
            measured["wrong"] = [image.to_json() for image in info.wrong]
    report = {
        "task": str(path),
        "model": info.model,
        "identity": info.identity,
        "classes": summary.classes,
        "parameters": dataclasses.asdict(info.parameters),
        "leave_one_out": measured,
        "bytes": path.stat().st_size,
    }
    if info.encoder is not None:
        report["encoder"] = info.encoder.to_json()
    if info.held_out is not None:
        counts = info.held_out.counts(len(summary.classes)).tolist()
        report["held_out"] = dict(zip(summary.classes, counts, strict=True))
    print(json_format.dumps(report, indent=1))
