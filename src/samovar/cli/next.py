"""`samovar next`: which photos of a heap to label next."""

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import tyro

from samovar.cli.named_images import named_images
from samovar.cli.predict import check_images
from samovar.cli.task_argument import check_task
from samovar.errors import SettingsError

if TYPE_CHECKING:
    from samovar.classifier.user_inputs import UserInputs
    from samovar.cli.fit_support import Start
    from samovar.reporting.suggestion_files import SuggestedImage

LOCAL_FILES = "/data/local-files/?d="
"""Where Label Studio serves the files of the disk, if it is told to."""


def next_images(  # noqa: PLR0913 - each parameter is a flag
    task: Annotated[Path, tyro.conf.Positional, tyro.conf.arg(metavar="TASK")],
    heap: Annotated[tuple[Path, ...], tyro.conf.Positional, tyro.conf.arg(metavar="HEAP...")],
    *,
    count: int = 10,
    interactive: bool = False,
    out: Path = Path("next"),
    prefix: str = LOCAL_FILES,
    recursive: bool = False,
    follow_links: bool = False,
    encoder: str | None = None,
    cache: bool = True,
    device: str = "auto",
) -> int:
    """Say which photos to label next, so that few labels teach much.

    Doubtful photos that tell much about the others come first, and no two that tell the same:
    they are chosen one after the other, each given those before it. Photos that the task has
    already are left out.

    Writes next.png (a contact sheet), next.csv, and for Label Studio next.json (tasks with
    predictions) and next.xml (the labelling configuration). With --interactive it asks for the
    labels here instead, and the task grows at once.

    Args:
        task: A task file written by `samovar fit`.
        heap: Photos without labels: files, folders, zip archives, or lists (.txt, with one path in
            each line).
        count: How many photos to label before the next look.
        interactive: Ask for the label of each photo in the terminal, add it to the task, and show
            the leave-one-out accuracy. The next photo is chosen with all labels so far.
        out: Folder for the files.
        prefix: What stands before the absolute path of each photo in next.json. The default is for
            Label Studio's local files with / as their document root.
        recursive: Also look at the photos in folders inside the given folders.
        follow_links: Follow links that lead out of the given folders.
        encoder: Where the ONNX file of the task's encoder is now, if it has moved.
        cache: Keep the vectors of an encoder, so that the same image is encoded once (at most 1 GB
            in all, in the folder of the variable SAMOVAR_CACHE).
        device: cpu, cuda, mps, or auto.
    """
    from samovar.core.files import output_folder

    if count < 1:
        raise SettingsError(f"--count must be at least 1, but is {count}.")
    check_task(task, heap)
    check_images(heap)
    named = named_images(heap, recursive=recursive, follow_links=follow_links)
    if not interactive:
        output_folder(out)

    # Only now, since torch takes longer to load than all the checks.
    from samovar.classifier.copies import with_checksum
    from samovar.cli.fit_support import grown_start
    from samovar.cli.next_interactive import Questions, unlabelled
    from samovar.cli.reading import read_files
    from samovar.core.devices import device_named
    from samovar.reporting.terminal import report_left_out, report_skipped

    start = grown_start(task, encoder, device_named(device))
    digests: dict[str, str] = {}
    files = [with_checksum(file, digests) for file in named.files]
    new = unlabelled(
        read_files(files, start.saved, f"of {task}", cache=cache), digests, start.earlier
    )
    read = new.read
    if new.known:
        print(f"samovar: {new.note}", file=sys.stderr)
    if interactive:
        Questions(task, start, read, digests).ask(count)
    elif read.inputs:
        _write(out, _suggested(start, read, count), read, start, prefix)
    missed = report_left_out(named.left_out, named.note)
    return max(missed, report_skipped(read.unreadable))


def _suggested(start: "Start", read: "UserInputs", count: int) -> "list[SuggestedImage]":
    from samovar.classifier.suggestions import suggest
    from samovar.reporting.answers import answer_rows
    from samovar.reporting.suggestion_files import SuggestedImage

    fitted = start.task
    assert fitted is not None
    found = suggest(fitted, read.inputs, count, start.parameters)
    positions = found.positions.tolist()
    answer = fitted.answer([read.inputs[position] for position in positions], start.parameters)
    paths = [read.paths[position] for position in positions]
    rows = answer_rows(paths, answer, fitted.task.classes)
    scored = zip(rows, found.scores.tolist(), strict=True)
    return [SuggestedImage(row, score) for row, score in scored]


def _write(
    out: Path,
    suggested: "list[SuggestedImage]",
    read: "UserInputs",
    start: "Start",
    prefix: str,
) -> None:
    """Write all files, and print the suggestions."""
    from rich.console import Console

    from samovar.classifier.user_inputs import shown_images
    from samovar.core.files import write_whole
    from samovar.core.text import printable

    # matplotlib is slow to import.
    from samovar.reporting.figures.suggestions import MOST_IMAGES, suggestions_figure
    from samovar.reporting.suggestion_files import (
        label_studio_config,
        label_studio_tasks,
        suggestions_csv,
        suggestions_table,
    )

    files = {str(path): file for path, file in zip(read.paths, read.files, strict=True)}
    shown = [files[image.row.image] for image in suggested[:MOST_IMAGES]]
    assert start.task is not None
    classes = [str(label) for label in start.task.task.classes]
    write_whole(out / "next.png", suggestions_figure(shown_images(shown), suggested))
    write_whole(out / "next.csv", suggestions_csv(suggested).encode())
    model = f"samovar {start.model}"
    write_whole(out / "next.json", label_studio_tasks(suggested, model, prefix).encode())
    write_whole(out / "next.xml", label_studio_config(classes).encode())
    Console().print(suggestions_table(suggested))
    folder = printable(str(out))
    print(f"Written: {folder}/next.png, next.csv, and for Label Studio next.json and next.xml.")
