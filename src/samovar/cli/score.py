"""`samovar score`: how good a task is on images whose classes are known."""

import json as json_format
import sys
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import tyro

from samovar.cli.predict import check_outputs
from samovar.cli.task_argument import check_task

if TYPE_CHECKING:
    from samovar.classifier.score_report import ScoreReport


def score(  # noqa: PLR0913 - each parameter is a flag
    task: Annotated[Path, tyro.conf.Positional, tyro.conf.arg(metavar="TASK")],
    images: Annotated[Path, tyro.conf.Positional, tyro.conf.arg(metavar="FOLDER")],
    *,
    json: bool = False,
    csv: bool = False,
    picture: Path | None = None,
    follow_links: bool = False,
    model: str | None = None,
    encoder: str | None = None,
    cache: bool = True,
    device: str = "auto",
    seed: int | None = None,
    out: Path | None = None,
) -> int:
    """Score a task on labelled images: accuracy, confusions, and how honest it is.

    Folders that are no class of the task are images that should be called "none of these". Use
    other images than those that the task was fitted to. Images that cannot be read are named and
    skipped; the exit code is then 1.

    Args:
        task: A task file written by `samovar fit`.
        images: A folder with one folder for each class, a zip archive of such folders, or a text
            file with a path, a tab and a label in each line.
        json: Print JSON.
        csv: Print CSV, with a line for each image.
        picture: Draw which class was taken for which into this PNG file.
        follow_links: Follow links that lead out of the folder.
        model: Where the task's model is now, if it has moved.
        encoder: Where the ONNX file of the task's encoder is now, if it has moved.
        cache: Keep the vectors of an encoder, so that the same image is encoded once (at most 1 GB
            in all, in the folder of the variable SAMOVAR_CACHE).
        device: cpu, cuda, mps, or auto.
        seed: Seeds the sampled classifiers, instead of the task's seed.
        out: Folder for score.json.
    """
    from samovar.encoders.image_list import labelled_images

    check_outputs(json, csv, picture, out)
    check_task(task, [images])
    listed = labelled_images(images, follow_links=follow_links)

    # Only now, since torch takes longer to load than all the checks.
    from samovar.classifier.loading import load_fitted
    from samovar.classifier.score_report import score_answers
    from samovar.cli.reading import noun_of, read_files
    from samovar.core.devices import device_named
    from samovar.reporting.terminal import report_left_out, report_skipped

    fitted, info = load_fitted(task, model, device_named(device), encoder)
    parameters = info.parameters
    if seed is not None:
        parameters = replace(parameters, seed=seed)
    files = [image.file for image in listed.images]
    read = read_files(files, fitted.saved, f"of {task}", cache=cache)
    answer = fitted.answer(read.inputs, parameters)
    used = [listed.images[position] for position in read.positions]
    # Folders have names; classes of a task that was fitted in Python may be numbers.
    classes = [str(label) for label in fitted.task.classes]
    truths = [image.label for image in used]
    names = [image.name for image in used]
    report = score_answers(answer, truths, classes, names, str(parameters.reject_label))

    _write_files(report, task, picture, out)
    _print_report(report, task, noun_of(fitted.saved), json=json, csv=csv)
    missed = report_left_out(listed.left_out)
    return max(missed, report_skipped(read.unreadable))


def _write_files(report: "ScoreReport", task: Path, picture: Path | None, out: Path | None) -> None:
    from samovar.core.files import write_whole

    if out is not None:
        write_whole(out / "score.json", _json_text(report, task).encode())
    if picture is not None:
        # matplotlib is slow to import, and only pictures need it.
        from samovar.reporting.figures.confusion import confusion_figure

        write_whole(picture, confusion_figure(report))


def _print_report(report: "ScoreReport", task: Path, noun: str, *, json: bool, csv: bool) -> None:
    from rich.console import Console

    from samovar.reporting.score_tables import print_score, write_score_csv

    if json:
        print(_json_text(report, task))
    elif csv:
        write_score_csv(sys.stdout, report)
    else:
        print_score(Console(), report, noun)


def _json_text(report: "ScoreReport", task: Path) -> str:
    return json_format.dumps({"task": str(task)} | report.to_json(), indent=1)
