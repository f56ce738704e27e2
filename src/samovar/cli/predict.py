"""`samovar predict`: label images with a fitted task."""

import json as json_format
import sys
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import tyro

from samovar.cli.fit import LONG_WORK

if TYPE_CHECKING:
    from samovar.classifier.answer import AnswerParameters
    from samovar.classifier.loading import Fitted
    from samovar.classifier.user_inputs import UserInputs
    from samovar.reporting.answers import AnswerRow


def predict(  # noqa: PLR0913 - each parameter is a flag
    task: Annotated[Path, tyro.conf.Positional, tyro.conf.arg(metavar="TASK")],
    images: Annotated[tuple[Path, ...], tyro.conf.Positional, tyro.conf.arg(metavar="IMAGE...")],
    *,
    json: bool = False,
    csv: bool = False,
    picture: Path | None = None,
    model: str | None = None,
    encoder: str | None = None,
    cache: bool = True,
    device: str = "auto",
    seed: int | None = None,
    out: Path | None = None,
) -> int:
    """Label images with a fitted task: probabilities, uncertainty, and "none of these".

    Prints a table, or JSON or CSV. Images that cannot be read are named and skipped; the exit code
    is then 1.

    Args:
        task: A task file written by `samovar fit`.
        images: Image files, or folders of them.
        json: Print JSON: a list with an entry for each image that can be read, in the order given.
        csv: Print CSV.
        picture: Draw the images with their answers into this PNG file.
        model: Where the task's model is now, if it has moved.
        encoder: Where the ONNX file of the task's encoder is now, if it has moved.
        cache: Keep the vectors of an encoder, so that the same image is encoded once (at most 1 GB
            in all, in the folder of the variable SAMOVAR_CACHE).
        device: cpu, cuda, mps, or auto.
        seed: Seeds the sampled classifiers, instead of the task's seed.
        out: Folder for predictions.json.
    """
    _check_outputs(json, csv, picture, out)
    _check_inputs(task, images)
    files = _image_files(images)

    # Only now, since torch takes longer to load than all the checks.
    from samovar.classifier.loading import load_fitted
    from samovar.classifier.user_inputs import read_inputs
    from samovar.core.devices import device_named
    from samovar.core.files import write_whole
    from samovar.reporting.answers import answer_rows
    from samovar.reporting.cache import vector_cache
    from samovar.reporting.progress_bar import progress_bar
    from samovar.reporting.terminal import report_skipped

    fitted, info = load_fitted(task, model, device_named(device), encoder)
    parameters = info.parameters
    if seed is not None:
        parameters = replace(parameters, seed=seed)
    with (
        vector_cache(wanted=cache and fitted.saved.encoder is not None) as vectors,
        progress_bar("reading images", quiet=len(files) < LONG_WORK) as progress,
    ):
        read = read_inputs(files, fitted.saved, f"of {task}", progress, vectors)
    answer = fitted.answer(read.inputs, parameters)
    rows = answer_rows(read.paths, answer, fitted.task.classes)

    if out is not None:
        write_whole(out / "predictions.json", _json_text(rows).encode())
    if picture is not None and rows:
        _write_picture(picture, read, fitted, rows)
    # Printing comes last: whoever reads our output may stop reading.
    if json:
        print(_json_text(rows))
    elif csv:
        _print_csv(rows, fitted)
    else:
        _print_table(rows, fitted, parameters)
    return report_skipped(read.unreadable)


def _check_inputs(task: Path, images: Sequence[Path]) -> None:
    """Refuse a task that is not there, and images of which none is."""
    from samovar.errors import DataError

    if not task.exists():
        raise DataError(
            f"There is no task file {task}. `samovar fit` makes one of a few labelled images."
        )
    if images and not any(path.exists() for path in images):
        raise DataError(f"There is no file or folder {images[0]}.")


def _check_outputs(json: bool, csv: bool, picture: Path | None, out: Path | None) -> None:
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


def _image_files(paths: Sequence[Path]) -> list[Path]:
    """Return the given files and the images directly inside the given folders."""
    from samovar.data.images.decode import EXTENSIONS
    from samovar.errors import DataError

    files: list[Path] = []
    subfolders: list[Path] = []
    for path in paths:
        if not path.is_dir():
            files.append(path)
            continue
        for entry in sorted(path.iterdir()):
            if entry.suffix.lower() in EXTENSIONS:
                files.append(entry)
            elif entry.is_dir():
                subfolders.append(entry)
    if not files:
        raise DataError(_no_images(paths, subfolders))
    return files


def _no_images(paths: Sequence[Path], subfolders: list[Path]) -> str:
    """Say that there is nothing to label, and where images may be."""
    if not paths:
        return "No images were given. Name image files, or folders of them."
    message = f"There are no images to label in {', '.join(map(str, paths))}."
    if subfolders:
        message += f" Name the folders inside: {subfolders[0]}, ..."
    return message


def _write_picture(
    picture: Path, read: "UserInputs", fitted: "Fitted", rows: "list[AnswerRow]"
) -> None:
    """Draw the images with their answers."""
    from samovar.classifier.user_inputs import shown_images
    from samovar.core.files import write_whole

    # matplotlib is slow to import, and only pictures need it.
    from samovar.reporting.figures.answers import answers_figure

    write_whole(picture, answers_figure(shown_images(read, fitted.saved), rows))


def _json_text(rows: "list[AnswerRow]") -> str:
    return json_format.dumps([row.to_json() for row in rows], indent=1)


def _print_csv(rows: "list[AnswerRow]", fitted: "Fitted") -> None:
    from samovar.reporting.answers import write_csv

    write_csv(sys.stdout, rows, fitted.task.classes)


def _print_table(rows: "list[AnswerRow]", fitted: "Fitted", parameters: "AnswerParameters") -> None:
    from rich.console import Console

    from samovar.reporting.answers import answers_table

    threshold = None
    if parameters.reject is not None:
        threshold = fitted.threshold(parameters.reject)
    note = fitted.rejection_note(parameters.reject)
    Console().print(answers_table(rows, note, threshold, distance=fitted.distance))
