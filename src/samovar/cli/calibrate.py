"""`samovar calibrate`: prediction sets with a guarantee, by images that a task has not seen."""

import json as json_format
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import tyro

from samovar.cli.task_argument import check_task

if TYPE_CHECKING:
    from samovar.classifier.known_scores import KnownScores

USUAL = (0.8, 0.9, 0.95, 0.99)
"""Confidences that the summary speaks of."""


def calibrate(  # noqa: PLR0913 - each parameter is a flag
    task: Annotated[Path, tyro.conf.Positional, tyro.conf.arg(metavar="TASK")],
    images: Annotated[Path, tyro.conf.Positional, tyro.conf.arg(metavar="FOLDER")],
    *,
    json: bool = False,
    follow_links: bool = False,
    model: str | None = None,
    encoder: str | None = None,
    cache: bool = True,
    device: str = "auto",
) -> int:
    """Calibrate the sets of a task with held-out images: `samovar predict --sets` then uses them.

    The images must be like those that will be labelled, and others than those that the task was
    fitted to: copies of those are left out. The task file keeps a number for each image; answers
    stay as they are. Calibrating again replaces it, and `samovar fit --add` drops it. 90 % needs at
    least 9 images, 95 % needs 19, 99 % needs 99; with --per-class, of each class.

    Args:
        task: A task file written by `samovar fit`; it is written again.
        images: A folder with one folder for each class of the task, a zip archive of such folders,
            or a text file with a path, a tab and a label in each line.
        json: Print JSON.
        follow_links: Follow links that lead out of the folder.
        model: Where the task's model is now, if it has moved.
        encoder: Where the ONNX file of the task's encoder is now, if it has moved.
        cache: Keep the vectors of an encoder, so that the same image is encoded once (at most 1 GB
            in all, in the folder of the variable SAMOVAR_CACHE).
        device: cpu, cuda, mps, or auto.
    """
    from samovar.encoders.image_list import labelled_images

    check_task(task, [images])
    listed = labelled_images(images, follow_links=follow_links)

    # Only now, since torch takes longer to load than all the checks.
    from dataclasses import replace

    from samovar.classifier.held_out import HeldOut, calibrated
    from samovar.classifier.loading import load_fitted
    from samovar.classifier.task_file import write_task
    from samovar.cli.reading import read_files
    from samovar.core.devices import device_named
    from samovar.reporting.terminal import report_left_out, report_skipped

    fitted, info = load_fitted(task, model, device_named(device), encoder)
    held_out = HeldOut.of(listed, info.support, fitted.task.classes)
    read = read_files(held_out.files, fitted.saved, f"of {task}", cache=cache)
    used = held_out.unseen(read)
    known = calibrated(fitted, used.inputs, used.labels, info.parameters).held_out
    assert known is not None
    write_task(task, fitted.task, replace(info, held_out=known))

    names = [str(label) for label in fitted.task.classes]
    _print_summary(task, known, names, json=json)
    if used.copies:
        print(
            f"samovar: left out: {used.copies} images that the task was fitted to.",
            file=sys.stderr,
        )
    missed = report_left_out(listed.left_out)
    return max(missed, report_skipped(read.unreadable))


def _print_summary(task: Path, known: "KnownScores", names: list[str], *, json: bool) -> None:
    """Say how many images there are, and which confidences they support."""
    from samovar.core.text import printable
    from samovar.prediction.conformal import highest_confidence

    counts = known.counts(len(names))
    highest = {
        "all": highest_confidence(len(known)),
        "per_class": highest_confidence(int(counts.min())),
    }
    if json:
        report: dict[str, Any] = {"task": str(task), "images": len(known)}
        report["classes"] = dict(zip(names, counts.tolist(), strict=True))
        report["highest_confidence"] = highest
        print(json_format.dumps(report, indent=1))
        return
    name = printable(str(task))
    print(f"Calibrated with {len(known)} held-out images. {_levels(highest['all'], '')}")
    print(_levels(highest["per_class"], " --per-class"))
    print(f"Written: {name}. Next: samovar predict {name} IMAGE... --sets 0.9")


def _levels(highest: float, flag: str) -> str:
    """Say which of the usual confidences can be asked for."""
    supported = [f"{level:g}" for level in USUAL if level <= highest + 1e-9]
    if not supported:
        return f"With --sets{flag}, they support none of {', '.join(f'{x:g}' for x in USUAL)}."
    return f"With --sets{flag}, they support {', '.join(supported)} (at most {highest:.3f})."
