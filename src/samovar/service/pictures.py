"""What is kept of the examples' images: thumbnails, and the files themselves if that is wanted.

A picture is called by the checksum of its file, which is ours: a client's name for it is never a
path. Thumbnails are drawn anew, so they have neither the place nor the camera that photographs
often carry in their EXIF block.
"""

import io
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from PIL import Image

from samovar.core.files import write_whole
from samovar.core.progress import Progress
from samovar.data.images.decode import opened_image
from samovar.data.images.pictures import shown_picture
from samovar.service.examples import ReadImages

FOLDER = "pictures"
SIDE = 256
"""Pixels of the longer side of a thumbnail."""
QUALITY = 85


def thumbnail(content: bytes, name: str) -> bytes:
    """Return a small JPEG of an image file."""
    buffer = io.BytesIO()
    shown_picture(content, name, SIDE).save(buffer, "JPEG", quality=QUALITY)
    return buffer.getvalue()


@dataclass(frozen=True)
class NewPicture:
    """What will be kept of an example's image."""

    digest: str
    thumbnail: bytes
    original: Callable[[], bytes] | None
    """Returns the file, if it is to be kept."""


def draw_pictures(images: ReadImages, *, keep: bool, progress: Progress) -> list[NewPicture]:
    """Return thumbnails of images that could be read, before any lock is held."""
    pictures = []
    for upload, digest in zip(images.uploads, images.digests, strict=True):
        file = upload.file
        drawn = thumbnail(file.read(), file.name)
        pictures.append(NewPicture(digest, drawn, file.read if keep else None))
        progress(file.name, len(pictures) / len(images.uploads))
    return pictures


class Pictures:
    """The pictures of one task."""

    def __init__(self, task_folder: Path) -> None:
        self.folder = task_folder / FOLDER

    def add(self, pictures: Sequence[NewPicture]) -> None:
        """Store pictures."""
        self.folder.mkdir(exist_ok=True)
        for picture in pictures:
            write_whole(self._thumbnail(picture.digest), picture.thumbnail)
            if picture.original is not None:
                write_whole(self._original(picture.digest), picture.original())

    def thumbnail(self, digest: str) -> bytes | None:
        """Return a thumbnail; None if there is none, as in a task that came as a file."""
        return _content(self._thumbnail(digest))

    def original(self, digest: str) -> tuple[bytes, str] | None:
        """Return an image file that was kept, with its media type; None if there is none."""
        content = _content(self._original(digest))
        if content is None:
            return None
        with opened_image(content, digest) as image:
            return content, Image.MIME.get(image.format or "", "application/octet-stream")

    def digests(self) -> set[str]:
        """Return the checksums of the images that have a thumbnail."""
        if not self.folder.is_dir():
            return set()
        return {path.stem for path in self.folder.glob("*.jpg")}

    def keep_only(self, digests: set[str]) -> None:
        """Remove the pictures of examples that are no longer there."""
        for digest in self.digests() - digests:
            self._thumbnail(digest).unlink(missing_ok=True)
            self._original(digest).unlink(missing_ok=True)

    def _thumbnail(self, digest: str) -> Path:
        return self.folder / f"{digest}.jpg"

    def _original(self, digest: str) -> Path:
        return self.folder / f"{digest}.original"


def _content(path: Path) -> bytes | None:
    try:
        return path.read_bytes()
    except FileNotFoundError:
        return None
