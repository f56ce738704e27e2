"""An image as a file, wherever its bytes are."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from samovar.data.images.decode import read_file


@dataclass(frozen=True)
class ImageFile:
    """An image as a file: on the disk, in an archive, or in memory."""

    name: str
    """What errors call it."""
    read: Callable[[], bytes]
    """Returns its bytes."""

    @classmethod
    def at(cls, path: Path) -> "ImageFile":
        """Return the file at a path."""
        return cls(str(path), lambda: read_file(path))
