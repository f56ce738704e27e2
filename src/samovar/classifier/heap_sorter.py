"""A heap of photos, sorted into folders by a fitted task, step by step and with a manifest.

`HeapSorter.plan` says where each new photo would go and changes nothing; `HeapSorter.apply` does
it. What an earlier process has left unfinished is finished first, as it had been planned.
"""

from collections import defaultdict
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import NamedTuple

import numpy as np
from filelock import FileLock, Timeout
from numpy.typing import NDArray

from samovar.classifier.answer import Answer
from samovar.classifier.sorting import Folders
from samovar.core.files import output_folder, remove_leftovers
from samovar.core.filing import By, Filing, file_away, free_name, take_back
from samovar.core.filing_manifest import NAME, FilingManifest, is_text, remove_manifest
from samovar.errors import DataError, OutputError

LOCK = ".samovar-sort.lock"


@dataclass(frozen=True)
class PlannedPhoto:
    """A photo with its answer and the place that it gets."""

    image: Path
    label: str
    probability: float
    folder: str
    filing: Filing


class NewPhotos(NamedTuple):
    """Photos that are to be sorted, and sentences about those that cannot be."""

    paths: list[Path]
    refused: list[str]


@dataclass(frozen=True)
class HeapSorter:
    """What photos are sorted into, and how."""

    into: Path
    folders: Folders
    by: By
    least: float
    """A photo whose best class is less probable is unsure."""

    def new_photos(self, heap: Sequence[Path], manifest: FilingManifest) -> NewPhotos:
        """Return the photos of a heap that are still to be sorted, each once.

        Those that a link or a copy was made of are not, nor is what lies in the folders that photos
        are sorted into.
        """
        known = {filing.source: filing for filing in manifest.filings if filing.by != "move"}
        managed = [(self.into / name).absolute() for name in self.folders.all]
        new = NewPhotos([], [])
        for path in dict.fromkeys(path.absolute() for path in heap):
            earlier = known.get(str(path))
            sorted_already = any(path.is_relative_to(folder) for folder in managed)
            if sorted_already or (earlier is not None and earlier.is_of(path)):
                continue
            reason = self._reason_against(path)
            if reason:
                new.refused.append(f"{path} {reason}")
            else:
                new.paths.append(path)
        return new

    def _reason_against(self, path: Path) -> str:
        """Return why a photo stays where it is; nothing if it can be sorted."""
        if not is_text(path):
            return "has a name that is not text: rename it"
        if self.by == "move" and path.is_symlink():
            # From its new place it might lead nowhere.
            return "is a link, which is not moved"
        return ""

    def plan(
        self, photos: Sequence[Path], answer: Answer, sets: NDArray[np.bool_] | None = None
    ) -> list[PlannedPhoto]:
        """Return where photos go, under names that nothing has; nothing is changed.

        `sets` are their prediction sets (n, classes), if they are to decide.
        """
        taken = self._taken()
        names = self.folders.chosen(answer, self.least, sets)
        planned = []
        for number, (path, folder) in enumerate(zip(photos, names, strict=True)):
            name = free_name(path.name, taken[folder])
            taken[folder].add(name.casefold())
            filing = Filing.of(path, f"{folder}/{name}", self.by)
            probability = float(answer.probabilities[number].max())
            label = str(answer.labels[number])
            planned.append(PlannedPhoto(path, label, probability, folder, filing))
        return planned

    def _taken(self) -> dict[str, set[str]]:
        """Return the names in each folder, in small letters."""
        taken: dict[str, set[str]] = defaultdict(set)
        for folder in self.folders.all:
            if (self.into / folder).is_dir():
                taken[folder] = {path.name.casefold() for path in (self.into / folder).iterdir()}
        return taken

    def apply(self, planned: Sequence[PlannedPhoto]) -> list[PlannedPhoto]:
        """Sort photos; return those whose place was taken by somebody meanwhile, or that went."""
        if not planned:
            return []
        failed = file_photos([photo.filing for photo in planned], self.into)
        return [photo for photo in planned if photo.filing in failed]


def file_photos(filings: Sequence[Filing], into: Path) -> set[Filing]:
    """Write down what is about to be done, and do it; return the filings that failed."""
    manifest = FilingManifest.read(into).extended(tuple(filings), into)
    manifest.write(into)
    return _file_all(manifest, into)


def finish(into: Path) -> int:
    """Finish what was planned by a process that was killed; return how many photos it was.

    Plans that cannot be carried out any more are forgotten: their photos will be planned anew.
    """
    manifest = FilingManifest.read(into)
    if not manifest.pending:
        return 0
    failed = _file_all(manifest, into)
    return len(manifest.pending) - len(failed)


def _file_all(manifest: FilingManifest, into: Path) -> set[Filing]:
    """Do what is pending, and write down that it is done; return the filings that failed."""
    failed = set()
    for filing in manifest.pending:
        if not file_away(filing, into):
            target = into / filing.target
            remove_leftovers(target.parent, target.name)
            failed.add(filing)
    manifest.finished(failed).write(into)
    return failed


@dataclass(frozen=True)
class Undone:
    """What came of undoing."""

    photos: int
    left: tuple[Filing, ...]
    """Those that stay as they are, since undoing might lose something."""


def undo(into: Path) -> Undone:
    """Take everything back that the manifest of a folder says was sorted into it."""
    manifest = FilingManifest.read(into)
    if not (into / NAME).exists():
        raise DataError(f"{into} has no {NAME}, so there is nothing to undo.")
    # Whoever sorts again after this was killed does again what was taken back.
    replace(manifest, done=0).write(into)
    left = []
    for filing in reversed(manifest.filings):
        if not take_back(filing, into):
            left.append(filing)
    if left:
        replace(manifest, filings=tuple(reversed(left)), done=len(left)).write(into)
    else:
        remove_manifest(into, manifest)
        (into / LOCK).unlink(missing_ok=True)
    return Undone(len(manifest.filings) - len(left), tuple(left))


@contextmanager
def sorting_lock(into: Path) -> Iterator[None]:
    """Let one process at a time sort into a folder."""
    output_folder(into)
    try:
        with FileLock(into / LOCK, timeout=0):
            yield
    except Timeout as error:
        raise OutputError(
            f"Another samovar sort is at work in {into}. Wait for it, or stop it."
        ) from error
