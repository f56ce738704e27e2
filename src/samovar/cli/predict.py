"""`samovar predict`: label images with a fitted task."""

import json as json_format
import sys
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import tyro

from samovar.cli.named_images import named_images
from samovar.cli.task_argument import check_task

if TYPE_CHECKING:
    from samovar.classifier.answer import AnswerParameters
    from samovar.classifier.loading import Fitted
    from samovar.data.images.image_file import ImageFile
    from samovar.reporting.answers import AnswerRow


def predict(  # noqa: PLR0913 - each parameter is a flag
    task: Annotated[Path, tyro.conf.Positional, tyro.conf.arg(metavar="TASK")],
    images: Annotated[tuple[Path, ...], tyro.conf.Positional, tyro.conf.arg(metavar="IMAGE...")],
    *,
    json: bool = False,
    csv: bool = False,
    picture: Path | None = None,
    explain: bool = False,
    sets: float | None = None,
    per_class: bool = False,
    recursive: bool = False,
    follow_links: bool = False,
    model: str | None = None,
    encoder: str | None = None,
    cache: bool = True,
    device: str = "auto",
    seed: int | None = None,
    out: Path | None = None,
) -> int:
    """Label images with a fitted task: probabilities, uncertainty, and "none of these".

    Prints a line for each image, or JSON or CSV. Images that cannot be read are named and skipped
    (in JSON they have an error instead of an answer); the exit code is then 1.

    Args:
        task: A task file written by `samovar fit`.
        images: Image files, folders of them, zip archives, lists (.txt, with one path in each
            line), or - for a list on standard input. A folder that has only folders is searched to
            any depth.
        json: Print JSON: a list with an entry for each image, in the order given.
        csv: Print CSV.
        picture: Draw the images with their answers into this PNG file, those that are none of these
            and the doubtful ones first.
        explain: Also print the distance and the uncertainty of each image, and what they mean.
        sets: Also give each image a set of classes that holds its own with this confidence, such as
            0.9; an empty set means none of these. Sets are made by held-out images (`samovar
            calibrate`), or else by the images that the task was fitted to: 0.9 needs 9 of them,
            0.95 needs 19. What is guaranteed is printed below the table.
        per_class: Let the confidence of --sets hold for the images of each class; the images are
            then needed of each class.
        recursive: Also label the images in folders inside the given folders.
        follow_links: Follow links that lead out of the given folders.
        model: Where the task's model is now, if it has moved.
        encoder: Where the ONNX file of the task's encoder is now, if it has moved.
        cache: Keep the vectors of an encoder, so that the same image is encoded once (at most 1 GB
            in all, in the folder of the variable SAMOVAR_CACHE).
        device: cpu, cuda, mps, or auto.
        seed: Seeds the sampled classifiers, instead of the task's seed.
        out: Folder for predictions.json.
    """
    check_outputs(json, csv, picture, out)
    _check_sets(sets, per_class=per_class)
    check_task(task, images)
    check_images(images)
    named = named_images(images, recursive=recursive, follow_links=follow_links)

    # Only now, since torch takes longer to load than all the checks.
    from samovar.classifier.loading import load_fitted
    from samovar.classifier.sets import SetRequest, predict_sets
    from samovar.cli.reading import read_files
    from samovar.core.devices import device_named
    from samovar.core.files import write_whole
    from samovar.reporting.answers import answer_rows, json_entries, with_sets
    from samovar.reporting.terminal import report_left_out, report_skipped

    fitted, info = load_fitted(task, model, device_named(device), encoder)
    parameters = info.parameters
    if seed is not None:
        parameters = replace(parameters, seed=seed)
    read = read_files(named.files, fitted.saved, f"of {task}", cache=cache)
    answer = fitted.answer(read.inputs, parameters)
    classes = fitted.task.classes
    rows = answer_rows(read.paths, answer, classes)
    if sets is not None:
        request = SetRequest(sets, per_class)
        found = predict_sets(fitted, read.inputs, answer.probabilities, request, parameters)
        rows = with_sets(rows, answer, found, classes)
    entries = json_entries(rows, read.positions, read.unreadable)
    text = json_format.dumps(entries, indent=1)

    if out is not None:
        write_whole(out / "predictions.json", text.encode())
    if picture is not None and rows:
        _write_picture(picture, read.files, rows)
    # Printing comes last: whoever reads our output may stop reading.
    if json:
        print(text)
    elif csv:
        _print_csv(rows, fitted)
    elif rows:
        _print_table(rows, fitted, parameters, explain)
    missed = report_left_out(named.left_out, named.note)
    return max(missed, report_skipped(read.unreadable))


def check_images(images: Sequence[Path]) -> None:
    """Refuse images of which none is there."""
    from samovar.errors import DataError

    listed = Path("-")  # a list on standard input
    if images and not any(path.exists() or path == listed for path in images):
        raise DataError(f"There is no file or folder {images[0]}.")


def _check_sets(sets: float | None, *, per_class: bool) -> None:
    """Refuse a confidence that is none."""
    from samovar.errors import SettingsError

    if sets is not None and not 0 < sets < 1:
        raise SettingsError(f"--sets must be between 0 and 1, such as 0.9, but is {sets}.")
    if per_class and sets is None:
        raise SettingsError("--per-class belongs to --sets: samovar predict ... --sets 0.9.")


def check_outputs(json: bool, csv: bool, picture: Path | None, out: Path | None) -> None:
    """Refuse outputs that cannot be written, before any work is done."""
    from samovar.core.files import output_folder
    from samovar.errors import SettingsError

    if json and csv:
        raise SettingsError("Choose one of --json and --csv.")
    if picture is not None:
        if picture.suffix.lower() != ".png":
            raise SettingsError(
                f"--picture writes a PNG file, so its name must end with .png, but is "
                f"{str(picture)!r}."
            )
        output_folder(picture.parent)
    if out is not None:
        output_folder(out)


def _write_picture(picture: Path, files: "list[ImageFile]", rows: "list[AnswerRow]") -> None:
    """Draw the images with their answers, the doubtful ones first."""
    from samovar.classifier.user_inputs import shown_images
    from samovar.core.files import write_whole

    # matplotlib is slow to import, and only pictures need it.
    from samovar.reporting.figures.answers import MOST_IMAGES, answers_figure, doubtful_first

    order = doubtful_first(rows)[:MOST_IMAGES]
    images = shown_images([files[position] for position in order])
    content = answers_figure(images, [rows[position] for position in order], len(rows))
    write_whole(picture, content)


def _print_csv(rows: "list[AnswerRow]", fitted: "Fitted") -> None:
    from samovar.reporting.answers import write_csv

    write_csv(sys.stdout, rows, fitted.task.classes)


def _print_table(
    rows: "list[AnswerRow]", fitted: "Fitted", parameters: "AnswerParameters", explain: bool
) -> None:
    from rich.console import Console

    from samovar.cli.reading import noun_of
    from samovar.reporting.answers import (
        answers_footer,
        answers_table,
        explanation,
        sets_footer,
    )

    console = Console()
    console.print(answers_table(rows, explain=explain))
    for footer in (answers_footer(rows, noun_of(fitted.saved)), sets_footer(rows)):
        if footer:
            console.print(footer, markup=False, highlight=False)
    if explain:
        threshold = None
        if parameters.reject is not None:
            threshold = fitted.threshold(parameters.reject)
        note = fitted.rejection_note(parameters.reject)
        text = explanation(note, threshold, fitted.distance)
        console.print(text, markup=False, highlight=False)
