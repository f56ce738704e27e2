"""The images that a user names on the command line: files, folders, zip archives and lists."""

import sys
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from samovar.data.images.image_file import ImageFile
    from samovar.data.images.left_out import LeftOut

LISTS = (".txt", ".tsv", ".lst", ".list")
"""Extensions of files that are lists of paths."""
STANDARD_INPUT = "-"


@dataclass
class NamedImages:
    """The images that were found, and what was not looked at."""

    files: "list[ImageFile]" = field(default_factory=list)
    left_out: "LeftOut | None" = None
    unsearched: int = 0
    """Folders inside the named ones that were not searched."""

    @property
    def note(self) -> str:
        """A sentence about folders that were not searched, or nothing."""
        if not self.unsearched:
            return ""
        folders = (
            "1 folder inside was"
            if self.unsearched == 1
            else (f"{self.unsearched} folders inside were")
        )
        return f"{folders} not searched: add --recursive to label the images there, too."


def named_images(
    paths: Sequence[Path],
    *,
    recursive: bool = False,
    follow_links: bool = False,
    may_be_empty: bool = False,
) -> NamedImages:
    """Return the images that a user means; none at all is an error, unless there may be none.

    A path is an image, a folder of images (searched to any depth if it has only folders), a zip
    archive, a list of paths, or `-` for a list on standard input.
    """
    from samovar.data.images.image_file import ImageFile
    from samovar.data.images.left_out import LeftOut
    from samovar.encoders.image_list import all_images

    named = NamedImages(left_out=LeftOut())
    assert named.left_out is not None
    for path in paths:
        if str(path) == STANDARD_INPUT:
            named.files += _listed_on_standard_input()
        elif path.is_dir() or path.suffix.lower() in (".zip", *LISTS):
            found, unsearched = all_images(path, recursive=recursive, follow_links=follow_links)
            named.files += [image.file for image in found.images]
            named.left_out.include(found.left_out)
            named.unsearched += unsearched
        else:
            named.files.append(ImageFile.at(path))
    if not named.files and not may_be_empty:
        raise _no_images(paths, named)
    return named


def _listed_on_standard_input() -> "list[ImageFile]":
    """Return the images of a list that somebody writes to us, who may never stop writing."""
    from samovar.encoders.image_sources import LARGEST_LIST, listed_paths
    from samovar.errors import DataError

    text = sys.stdin.read(LARGEST_LIST + 1)
    if len(text) > LARGEST_LIST:
        raise DataError(
            f"The list on standard input has more than {LARGEST_LIST:,} characters. Divide it."
        )
    listed = listed_paths(text, Path(), "The list on standard input")
    return [image.file for image in listed]


def _no_images(paths: Sequence[Path], named: NamedImages) -> Exception:
    """Return the error that there is nothing to label, with what was found instead."""
    from samovar.errors import DataError

    if not paths:
        return DataError("No images were given. Name image files, or folders of them.")
    message = f"There are no images to label in {', '.join(map(str, paths))}."
    if named.left_out:
        message += f" Left out: {named.left_out}."
    return DataError(message)
