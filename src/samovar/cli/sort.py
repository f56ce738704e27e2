"""`samovar sort`: photos into class folders, by link, copy or move."""

import json as json_format
import sys
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import tyro

from samovar.cli.named_images import named_images
from samovar.cli.task_argument import check_task
from samovar.core.filing_manifest import NAME
from samovar.errors import DataError, SettingsError

if TYPE_CHECKING:
    from samovar.classifier.heap_sorter import PlannedPhoto
    from samovar.cli.sort_heap import HeapAtHand

Heap = Annotated[tuple[Path, ...], tyro.conf.Positional, tyro.conf.arg(metavar="HEAP...")]


def sort(  # noqa: PLR0913 - each parameter is a flag
    heap: Heap = (),
    *,
    into: Path,
    task: Path | None = None,
    by: Literal["link", "copy", "move"] = "link",
    apply: bool = False,
    undo: bool = False,
    watch: bool = False,
    unsure: float = 0.5,
    sets: float | None = None,
    recursive: bool = False,
    follow_links: bool = False,
    json: bool = False,
    model: str | None = None,
    encoder: str | None = None,
    cache: bool = True,
    device: str = "auto",
    seed: int | None = None,
) -> int:
    """Sort photos into class folders. Without --apply it only prints what would happen.

    Photos that are rejected go into a folder "none of these", and those whose best class is not
    probable enough into "unsure". Nothing is ever overwritten: a name that is taken gets a number.
    The folder keeps a manifest, samovar-sort.json, by which --undo takes everything back. The
    command can be stopped at any point: the same command finishes its work. Photos that were
    sorted before are left alone.

    Args:
        heap: Photos: files, folders, or lists (.txt, with one path in each line).
        into: The folder in which the class folders are, or will be made.
        task: A task file written by `samovar fit`.
        by: link makes symbolic links to the photos, copy copies them, and move moves them.
        apply: Do it.
        undo: Take back all that was sorted into the folder. Photos that were moved go back to where
            they were; links and copies are removed. Whatever was changed since is left as it is.
        watch: Go on sorting new photos of the folder as they come, until Ctrl-C. A photo is sorted
            when it has not changed for a second.
        unsure: Put a photo into "unsure" if its best class is less probable than this; 0 never
            does, and 1 always.
        sets: Put a photo into "unsure" if its prediction set of this confidence, such as 0.9, has
            several classes, and into "none of these" if it has none.
        recursive: Also sort the photos in folders inside the given folders.
        follow_links: Follow links that lead out of the given folders.
        json: Print JSON: an entry for each photo.
        model: Where the task's model is now, if it has moved.
        encoder: Where the ONNX file of the task's encoder is now, if it has moved.
        cache: Keep the vectors of an encoder, so that the same image is encoded once (at most 1 GB
            in all, in the folder of the variable SAMOVAR_CACHE).
        device: cpu, cuda, mps, or auto.
        seed: Seeds the sampled classifiers, instead of the task's seed.
    """
    if undo:
        _check_undo(heap, apply=apply, watch=watch)
        return _undo(into)
    task = _checked_task(heap, task)
    _check_flags(unsure, sets, apply=apply, watch=watch, json=json)
    _check_heap(heap)
    expected = not watch and not (into / NAME).exists()  # else all may be sorted already
    named_images(heap, recursive=recursive, follow_links=follow_links, may_be_empty=not expected)

    # Only now, since torch takes longer to load than all the checks.
    from samovar.classifier.heap_sorter import HeapSorter, sorting_lock
    from samovar.classifier.loading import load_fitted
    from samovar.classifier.sets import SetRequest
    from samovar.classifier.sorting import Folders
    from samovar.cli.sort_heap import HeapAtHand
    from samovar.core.devices import device_named

    fitted, info = load_fitted(task, model, device_named(device), encoder)
    parameters = info.parameters
    if seed is not None:
        parameters = replace(parameters, seed=seed)
    folders = Folders.of(fitted.task.classes, parameters.reject_label)
    sorter = HeapSorter(into, folders, by, unsure)
    place = f"of {task}"
    request = None
    if sets is not None:
        request = SetRequest(sets)
    at_hand = HeapAtHand(
        heap, sorter, fitted, parameters, place, recursive, follow_links, cache, request
    )
    if not apply:
        return _dry_run(at_hand, json=json)
    with sorting_lock(into):
        if watch:
            return _watch(at_hand)
        return _apply(at_hand, json=json)


def _check_undo(heap: Sequence[Path], *, apply: bool, watch: bool) -> None:
    if heap or apply or watch:
        raise SettingsError("--undo needs only --into: leave out the photos and the other flags.")


def _checked_task(heap: Sequence[Path], task: Path | None) -> Path:
    if task is None:
        raise SettingsError("Name the task that tells the photos apart: --task mine.safetensors.")
    check_task(task, heap)
    return task


def _check_flags(
    unsure: float, sets: float | None, *, apply: bool, watch: bool, json: bool
) -> None:
    if not 0 <= unsure <= 1:
        raise SettingsError(f"--unsure takes a probability from 0 to 1, but {unsure} was given.")
    if sets is not None and not 0 < sets < 1:
        raise SettingsError(f"--sets takes a confidence such as 0.9, but {sets} was given.")
    if watch and not apply:
        raise SettingsError("--watch sorts photos as they come: add --apply.")
    if watch and json:
        raise SettingsError("--watch prints a line for each photo: leave out --json.")


def _check_heap(heap: Sequence[Path]) -> None:
    if not heap:
        raise DataError("No photos were given. Name a folder of photos: samovar sort HEAP ...")
    for path in heap:
        if path.suffix.lower() == ".zip" and path.is_file():
            raise DataError(f"{path} is an archive. Unpack it, and sort the folder.")
        if not path.exists():
            raise DataError(f"There is no file or folder {path}.")


def _undo(into: Path) -> int:
    from samovar.classifier.heap_sorter import sorting_lock
    from samovar.classifier.heap_sorter import undo as undo_all
    from samovar.core.text import printable
    from samovar.reporting.sorting_tables import undone_text

    if not (into / NAME).exists():
        raise DataError(f"{into} has no {NAME}, so there is nothing to undo.")
    with sorting_lock(into):
        undone = undo_all(into)
    sentences = undone_text(undone, into)
    print(printable(sentences[0]))
    for sentence in sentences[1:]:
        print(f"samovar: {printable(sentence)}", file=sys.stderr)
    return 1 if undone.left else 0


def _dry_run(at_hand: "HeapAtHand", *, json: bool) -> int:
    from samovar.core.filing_manifest import FilingManifest
    from samovar.reporting.sorting_tables import counted

    pending = FilingManifest.read(at_hand.sorter.into).pending
    if pending and not json:
        print(f"An earlier run was stopped: --apply first finishes its {counted(len(pending))}.")
    planned = at_hand.planned()
    _print(at_hand, planned, json=json, applied=False)
    if planned and not json:
        print("Nothing was changed. Add --apply to do this.")
    return at_hand.report()


def _apply(at_hand: "HeapAtHand", *, json: bool) -> int:
    from samovar.classifier.heap_sorter import finish
    from samovar.core.text import printable
    from samovar.reporting.sorting_tables import counted

    finished = finish(at_hand.sorter.into)
    if finished and not json:
        print(f"{counted(finished)} of a run that was stopped: done now.")
    planned = at_hand.planned()
    failed = at_hand.apply(planned)
    sorted_photos = [photo for photo in planned if photo not in failed]
    _print(at_hand, sorted_photos, json=json, applied=True)
    if sorted_photos and not json:
        into = printable(str(at_hand.sorter.into))
        print(f"Done. To take it back: samovar sort --undo --into {into}")
    return at_hand.report()


def _watch(at_hand: "HeapAtHand") -> int:
    from samovar.classifier.heap_sorter import finish
    from samovar.cli.sort_heap import seconds
    from samovar.core.interrupts import StopRequests
    from samovar.core.text import printable

    finish(at_hand.sorter.into)
    print("Watching. Ctrl-C ends it.", flush=True)
    with StopRequests("Stopping.") as requests:
        for photo in at_hand.watched(seconds(requests)):
            line = f"{photo.image} -> {photo.filing.target} ({photo.probability:.0%})"
            print(printable(line), flush=True)
    return at_hand.report()


def _print(
    at_hand: "HeapAtHand", photos: "Sequence[PlannedPhoto]", *, json: bool, applied: bool
) -> None:
    from rich.console import Console

    from samovar.reporting.sorting_tables import plan_json, print_plan

    into = at_hand.sorter.into
    if json:
        print(json_format.dumps(plan_json(photos, into, applied=applied), indent=1))
    elif photos:
        print_plan(Console(), photos, into)
    else:
        print("There are no new photos to sort.")
