"""Files into folders by link, copy or move: nothing is overwritten, lost or half done.

A `Filing` says where one file goes. `file_away` does it, and `take_back` undoes it. Both look at
what is on the disk first, so that either can be killed at any point and done again: a move that was
cut short has left the file at one of the two places, or the same content at both.
"""

import errno
import filecmp
import os
import shutil
from collections.abc import Collection
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from samovar.core.files import rename_new, whole_file

By = Literal["link", "copy", "move"]


@dataclass(frozen=True)
class Filing:
    """A file and its new place."""

    source: str
    """Where the file is, or was before it was moved: an absolute path."""
    target: str
    """Its new place inside the folder that files are sorted into, with slashes."""
    by: By
    size: int
    time: int
    """The size and the time of the file (st_mtime_ns): a file that has others is a new one."""

    @classmethod
    def of(cls, source: Path, target: str, by: By) -> "Filing":
        """Return the filing of a file as it is now."""
        state = source.stat()
        return cls(str(source.absolute()), target, by, state.st_size, state.st_mtime_ns)

    def is_of(self, source: Path) -> bool:
        """Return whether a file is the one that this was made for, unchanged."""
        try:
            state = source.stat()
        except OSError:
            return False
        same = (state.st_size, state.st_mtime_ns) == (self.size, self.time)
        return same and str(source.absolute()) == self.source


def file_away(filing: Filing, folder: Path) -> bool:
    """Put a file into its place below a folder; return whether it is there now.

    False means that something else is in that place, or that the file has gone.
    """
    source = Path(filing.source)
    target = folder / filing.target
    if os.path.lexists(target):
        return _finished(filing, source, target)
    if not source.is_file():
        return False
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        if filing.by == "link":
            target.symlink_to(source)
        elif filing.by == "copy":
            _copy_new(source, target)
        else:
            _move_new(source, target)
    except FileExistsError:  # somebody was faster, or a file has the name of the folder
        return False
    return True


def _finished(filing: Filing, source: Path, target: Path) -> bool:
    """Finish what was cut short; return whether the target is our file."""
    if filing.by == "link":
        return _links_to(target, source)
    if not os.path.lexists(source):
        return filing.by == "move"
    if not _same_content(source, target):
        return False
    if filing.by == "move":  # it was killed when the file was at both places
        source.unlink()
    return True


def take_back(filing: Filing, folder: Path) -> bool:
    """Undo a filing; return whether all is as if it had never been.

    A copy is removed only if the original is there with the same content, a link only if it still
    leads to the original, and a file is moved back only to where nothing else is.
    """
    source = Path(filing.source)
    target = folder / filing.target
    if not os.path.lexists(target):
        return filing.by != "move" or os.path.lexists(source)
    if filing.by == "link":
        if not _links_to(target, source):
            return False
        target.unlink()
        return True
    if not os.path.lexists(source):
        return filing.by == "move" and _moved_back(target, source)
    if not _same_content(source, target):
        return False
    target.unlink()
    return True


def _moved_back(target: Path, source: Path) -> bool:
    source.parent.mkdir(parents=True, exist_ok=True)
    try:
        _move_new(target, source)
    except FileExistsError:
        return False
    return True


def _links_to(link: Path, source: Path) -> bool:
    return link.is_symlink() and link.readlink() == source


def _same_content(source: Path, target: Path) -> bool:
    """Return whether there are two files with the same bytes, so that either can be spared."""
    if target.is_symlink() or not target.is_file() or not source.is_file():
        return False
    if source.is_symlink() and source.samefile(target):
        return False
    return filecmp.cmp(source, target, shallow=False)


def _copy_new(source: Path, target: Path) -> None:
    with source.open("rb") as original, whole_file(target, replace=False) as file:
        shutil.copyfileobj(original, file)
        state = os.fstat(original.fileno())
        file.flush()  # writing later would change the time again
        os.utime(file.fileno(), ns=(state.st_atime_ns, state.st_mtime_ns))


def _move_new(source: Path, target: Path) -> None:
    try:
        rename_new(source, target)
    except OSError as error:
        if error.errno != errno.EXDEV:
            raise
        _copy_new(source, target)  # to another disk
        source.unlink()


def free_name(name: str, taken: Collection[str]) -> str:
    """Return a file name that is not taken, whatever the case of its letters.

    >>> free_name("1.jpg", {"1.jpg", "1 (2).jpg"})
    '1 (3).jpg'
    """
    path = Path(name)
    number = 1
    free = name
    while free.casefold() in taken:
        number += 1
        free = f"{path.stem} ({number}){path.suffix}"
    return free
