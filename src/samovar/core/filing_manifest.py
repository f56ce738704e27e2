"""The manifest of files that were sorted into a folder: what was done, and what was about to be.

It is written before anything is done, so that a process that was killed can be finished by the
next one, and everything can be undone. It lies in the folder itself, and is read with suspicion: a
checksum tells damage, and whoever has written it can make us move only images, only out of this
folder, and never over another file.
"""

import json
import os
from collections.abc import Collection
from dataclasses import asdict, dataclass, replace
from pathlib import Path, PurePosixPath
from typing import Any

from samovar.core.files import write_whole
from samovar.core.filing import Filing
from samovar.core.stored_json import read_json, seal
from samovar.errors import DataError, UnreadableError
from samovar.settings.checked import checked

NAME = "samovar-sort.json"
FORMAT = 1


@dataclass(frozen=True)
class FilingManifest:
    """All filings of a folder."""

    filings: tuple[Filing, ...] = ()
    folders: tuple[str, ...] = ()
    """The folders inside that were made for them."""
    done: int = 0
    """So many of the filings, from the first on, are done; of the others some may be."""
    format: int = FORMAT

    @property
    def pending(self) -> tuple[Filing, ...]:
        """The filings that a process was about to do when it was stopped."""
        return self.filings[self.done :]

    def finished(self, failed: Collection[Filing] = ()) -> "FilingManifest":
        """Return the manifest when its pending filings are done, but for some that failed."""
        done = tuple(filing for filing in self.pending if filing not in failed)
        filings = self.filings[: self.done] + done
        return replace(self, filings=filings, done=len(filings))

    def extended(self, filings: tuple[Filing, ...], folder: Path) -> "FilingManifest":
        """Return the manifest with more filings, which are about to be done."""
        made = list(self.folders)
        for filing in filings:
            inside = PurePosixPath(filing.target).parent.as_posix()
            if inside not in made and not (folder / inside).exists():
                made.append(inside)
        return replace(self, filings=self.filings + filings, folders=tuple(made))

    def write(self, folder: Path) -> None:
        """Write the manifest of a folder, whole or not at all."""
        facts = asdict(self)
        write_whole(folder / NAME, json.dumps(facts | {"seal": seal(facts)}, indent=1).encode())

    @classmethod
    def read(cls, folder: Path) -> "FilingManifest":
        """Read the manifest of a folder; an empty one if there is none."""
        path = folder / NAME
        if not path.exists():
            return cls()
        try:
            facts = read_json(path, dict[str, Any])
            if facts.get("seal") != seal(facts):
                raise UnreadableError("it is damaged: its checksum is another")
            manifest = checked(cls, facts)
            manifest._check()
        except (OSError, UnreadableError) as error:
            raise DataError(
                f"The manifest {path} cannot be used ({error}). Nothing was changed. If it is not "
                "needed any more, remove it, or sort into another folder."
            ) from error
        return manifest

    def _check(self) -> None:
        """Refuse paths that a manifest of ours does not have."""
        if self.format != FORMAT:
            raise UnreadableError(f"its format is {self.format}, and this version reads {FORMAT}")
        if not 0 <= self.done <= len(self.filings):
            raise UnreadableError("it has fewer photos than it says")
        for filing in self.filings:
            _check_inside(filing.target)
            source = Path(filing.source)
            target = PurePosixPath(filing.target)
            unusual = not source.is_absolute() or ".." in source.parts
            hidden = source.name.startswith(".") or target.name.startswith(".")
            if unusual or hidden or source.suffix.lower() != target.suffix.lower():
                raise UnreadableError(f"{filing.source!r} is not a photo that we have sorted")
        for folder in self.folders:
            _check_inside(folder)


def _check_inside(target: str) -> None:
    """Refuse a path that leads out of the folder."""
    path = PurePosixPath(target)
    odd = path.is_absolute() or ".." in path.parts or "\\" in target or "\0" in target
    if odd or str(path) != target or target == ".":
        raise UnreadableError(f"{target!r} is not a place inside the folder")


def remove_manifest(folder: Path, manifest: FilingManifest) -> None:
    """Remove a manifest, and the folders that were made for it as far as they are empty."""
    for inside in sorted(manifest.folders, key=len, reverse=True):
        try:
            (folder / inside).rmdir()
        except OSError:  # it is not empty, or has gone
            continue
    (folder / NAME).unlink(missing_ok=True)


def is_text(path: Path) -> bool:
    """Return whether a path is text that a manifest can hold; a file name can be any bytes."""
    try:
        os.fspath(path).encode()
    except UnicodeEncodeError:
        return False
    return True
