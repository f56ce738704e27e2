"""`samovar check`: what may be wrong with labelled images, before or after a task is made."""

import json as json_format
import sys
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import tyro

from samovar.cli.task_argument import TASK_SUFFIX
from samovar.errors import DataError, SettingsError

if TYPE_CHECKING:
    from samovar.classifier.check_report import CheckReport
    from samovar.cli.check_support import CheckedImages


def check(  # noqa: PLR0913 - each parameter is a flag
    place: Annotated[Path, tyro.conf.Positional, tyro.conf.arg(metavar="FOLDER|TASK")],
    *,
    against: Path | None = None,
    out: Path = Path("check"),
    move_to: Path | None = None,
    json: bool = False,
    model: str | None = None,
    encoder: str | None = None,
    preprocessing: str | None = None,
    follow_links: bool = False,
    cache: bool = True,
    device: str = "auto",
    seed: int = 0,
) -> int:
    """Look for what is wrong with labelled images: wrong labels, duplicates, classes alike.

    Finds labels that are probably wrong (by what the other images say), pictures that are there
    more than once, classes that cannot be told apart, and classes with too few images. Writes
    check.html, a page with the pictures, and check.json. Nothing is changed without --move-to.

    Args:
        place: A folder with one folder for each class, a zip archive of such folders, a text file
            with a path, a tab and a label in each line, or a task file written by `samovar fit`
            (of which the page has names, but no pictures).
        against: New photos that are to be labelled: a folder, a zip archive or a list. Says whether
            they seem to come from another camera or place.
        out: Folder for check.html and check.json.
        move_to: Move the images whose labels are probably wrong, and all but one of duplicates
            within a class, into this folder. `samovar sort --undo --into` it takes them back.
        json: Print JSON.
        model: The model that compares the images of a folder (default: photos), or where the model
            of a task is now, if it has moved.
        encoder: What turns images into vectors, instead of the model's own encoder, as for `fit`.
        preprocessing: How images are prepared for an ONNX file, as for `fit`.
        follow_links: Follow links that lead out of the folder.
        cache: Keep the vectors of an encoder, so that the same image is encoded once (at most 1 GB
            in all, in the folder of the variable SAMOVAR_CACHE).
        device: cpu, cuda, mps, or auto.
        seed: Seeds the sampled classifiers.
    """
    from samovar.core.files import output_folder

    _check_paths(place, against, move_to)
    output_folder(out)

    # Only now, since torch takes longer to load than all the checks.
    from samovar.classifier.check_report import check_support
    from samovar.cli.check_support import checked_folder, checked_task, compared_camera
    from samovar.cli.fit_choices import Choices
    from samovar.core.devices import device_named

    torch_device = device_named(device)
    if _is_task(place):
        images = checked_task(place, model, encoder, torch_device)
    else:
        choices = Choices(model, encoder, preprocessing, None, None, seed)
        images = checked_folder(
            place, choices, torch_device, follow_links=follow_links, cache=cache
        )
    report = check_support(images.fitted, images.parameters, images.names, images.looks)
    code = images.code
    if against is not None:
        camera, missed = compared_camera(images, against, follow_links, cache)
        report = replace(report, camera=camera)
        code = max(code, missed)
    _write(report, images, place, out)
    _print(report, out, json=json)
    if move_to is not None:
        code = max(code, _move(report, images, move_to, quiet=json))
    return code


def _is_task(place: Path) -> bool:
    return place.suffix == TASK_SUFFIX and place.is_file()


def _check_paths(place: Path, against: Path | None, move_to: Path | None) -> None:
    for path in (place, against):
        if path is not None and not path.exists():
            raise DataError(f"There is no file or folder {path}.")
    if move_to is not None and (_is_task(place) or place.suffix.lower() == ".zip"):
        raise SettingsError(
            f"--move-to moves photos of a folder, but {place} is a file. Check the folder."
        )


def _write(report: "CheckReport", images: "CheckedImages", place: Path, out: Path) -> None:
    from samovar.core.files import write_whole
    from samovar.reporting.check_page import check_page

    page = check_page(f"Check of {place}", report, images.picture)
    write_whole(out / "check.html", page.encode(errors="replace"))
    write_whole(out / "check.json", _json_text(report).encode())


def _json_text(report: "CheckReport") -> str:
    return json_format.dumps(report.to_json(), indent=1)


def _print(report: "CheckReport", out: Path, *, json: bool) -> None:
    from rich.console import Console

    from samovar.core.text import printable
    from samovar.reporting.check_tables import print_check

    if json:
        print(_json_text(report))
        return
    print_check(Console(), report)
    print(printable(f"Written: {out / 'check.html'} and check.json."))


def _move(report: "CheckReport", images: "CheckedImages", into: Path, *, quiet: bool) -> int:
    """Move what was found out of the folder."""
    from samovar.cli.check_support import move_found
    from samovar.core.text import printable

    moved, failed = move_found(report, images, into)
    if not quiet:
        text = f"{moved} moved to {into}. To take them back: samovar sort --undo --into {into}"
        print(printable(text))
    for path in failed:
        print(printable(f"samovar: {path} was left where it is."), file=sys.stderr)
    return 1 if failed else 0
