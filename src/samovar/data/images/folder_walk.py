"""All images of a folder, to any depth, and what else is there.

Links are followed only within the folder, unless the user allows more: a link in a downloaded
folder could lead to any file of the user. Files without an extension are images if they begin like
one; all other files go by their extension.
"""

from collections import deque
from dataclasses import dataclass, field
from pathlib import Path

from samovar.data.images.decode import EXTENSIONS
from samovar.data.images.heif import is_avif, is_heif, missing_for
from samovar.data.images.left_out import HIDDEN_FOLDER, SEARCHED, LeftOut
from samovar.errors import DataError

SIGNATURES = (b"\xff\xd8\xff", b"\x89PNG\r\n\x1a\n", b"GIF8", b"BM", b"II*\0", b"MM\0*")
"""How files begin that are JPEG, PNG, GIF, BMP or TIFF."""
HEAD = 64
"""Bytes that tell the kind of a file."""


@dataclass(frozen=True)
class FolderImages:
    """The images of a folder in order, and what was left out."""

    paths: list[Path] = field(default_factory=list)
    left_out: LeftOut = field(default_factory=LeftOut)


def walk_images(
    folder: Path, home: Path | None = None, *, follow_links: bool = False, deep: bool = True
) -> FolderImages:
    """Return the images of a folder and of the folders inside it.

    Args:
        folder: Where to look.
        home: The folder that links may not leave; `folder` by default.
        follow_links: Let links lead anywhere.
        deep: Look into the folders inside as well.
    """
    walk = _Walk(home or folder, follow_links, deep)
    walk.visit(folder)
    walk.found.paths.sort()
    return walk.found


def begins_like_image(head: bytes) -> bool:
    """Tell whether a file that begins with these bytes may be an image.

    >>> begins_like_image(b"GIF89a"), begins_like_image(b"Dear diary")
    (True, False)
    """
    if head[:4] == b"RIFF" and head[8:12] == b"WEBP":
        return True
    return head.startswith(SIGNATURES) or is_heif(head) or is_avif(head)


def is_image_file(path: Path) -> bool:
    """Tell whether a file is taken for an image, by its extension or else by its beginning."""
    if path.suffix:
        return path.suffix.lower() in EXTENSIONS and path.is_file()
    try:
        if not path.is_file():  # a pipe would wait for ever
            return False
        with path.open("rb") as file:
            return begins_like_image(file.read(HEAD))
    except OSError:
        return False


def check_link(path: Path, home: Path) -> None:
    """Refuse a link that leads out of a folder."""
    if path.is_symlink() and not path.resolve().is_relative_to(home.resolve()):
        raise DataError(
            f"{path} is a link to a place outside {home}. Replace it with a copy, or allow links "
            "with --follow-links where the command has it."
        )


class _Walk:
    """One walk through a folder, which visits no place twice, however many links lead there.

    It does without recursion, since folders can be nested very deeply.
    """

    def __init__(self, home: Path, follow_links: bool, deep: bool) -> None:
        self.home = home
        self.follow_links = follow_links
        self.deep = deep
        self.found = FolderImages()
        self.waiting: deque[Path] = deque()
        self.visited: set[Path] = set()

    def visit(self, folder: Path) -> None:
        """Visit a folder, and then all that wait."""
        self._check_link(folder)
        self.waiting.append(folder)
        while self.waiting:
            current = self.waiting.pop()
            place = current.resolve()
            if place in self.visited:
                self.found.left_out.add(SEARCHED)
                continue
            self.visited.add(place)
            for path in sorted(current.iterdir()):
                self._meet(path)

    def _meet(self, path: Path) -> None:
        if path.is_dir():
            self._meet_folder(path)
        elif path.name.startswith(".") or not is_image_file(path):
            self.found.left_out.add_file(path)
        else:
            self._check_link(path)
            if missing_for(path) is None or not self._needs_package(path):
                self.found.paths.append(path)
            else:
                self.found.left_out.add_file(path)

    def _meet_folder(self, path: Path) -> None:
        if path.name.startswith(".") or path.name == "__MACOSX":
            self.found.left_out.add(HIDDEN_FOLDER)
        elif self.deep:
            self._check_link(path)
            if path.is_symlink():
                self.waiting.appendleft(path)  # after all others: an image has its own name then
            else:
                self.waiting.append(path)

    def _check_link(self, path: Path) -> None:
        if not self.follow_links:
            check_link(path, self.home)

    def _needs_package(self, path: Path) -> bool:
        """Return whether a file that is called HEIC or AVIF really is one."""
        head = b""
        if path.stat().st_size:
            with path.open("rb") as file:
                head = file.read(HEAD)
        return is_heif(head) or is_avif(head)
