"""Images that a client sends, one by one or in a zip archive, with the class of each.

Names of files and classes are texts to show, and are never used as paths. An image that is too
large is left out by name; an archive that unpacks to too much is refused as a whole, by the bytes
that come out of it and not by what its directory says.
"""

import shutil
import tempfile
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from starlette.datastructures import UploadFile

from samovar.classifier.answer import AnswerParameters
from samovar.core.text import printable
from samovar.data.archive import LargeArchiveError, Zip
from samovar.data.images.image_file import ImageFile
from samovar.encoders.image_list import labelled_archive
from samovar.errors import DataError
from samovar.service.problems import Problem
from samovar.service.settings import Limits

LONGEST_NAME = 200
"""Characters of a file's name that are kept."""
LONGEST_LABEL = 100
"""Characters of a class name."""
BYTES_OF_ENTRY = 1000
"""Bytes in the directory of an archive for an entry, most of them for its name."""


@dataclass(frozen=True)
class Upload:
    """An image that a client sends."""

    file: ImageFile
    label: str = ""


def shown_name(name: str | None) -> str:
    """Return a file's name as it may be stored and shown.

    >>> shown_name("cat.jpg"), shown_name(None), shown_name("a\\x1b[31m")
    ('cat.jpg', 'unnamed', 'a?[31m')
    """
    text = (name or "unnamed").encode("utf-8", "replace").decode()
    return printable(text)[-LONGEST_NAME:]


def checked_label(label: str) -> str:
    """Return a class name without spaces around it; refuse one that cannot be shown or told apart.

    >>> checked_label("  black tea ")
    'black tea'
    """
    name = label.strip()
    if not name or len(name) > LONGEST_LABEL or not name.isprintable():
        raise Problem(
            422,
            f"{printable(name)[:LONGEST_LABEL]!r} cannot be the name of a class: give 1 to "
            f"{LONGEST_LABEL} printable characters.",
        )
    if name == AnswerParameters().reject_label:
        raise Problem(422, f"A class cannot be called {name!r}: that is an answer of its own.")
    return name


def uploaded_images(
    files: Sequence[UploadFile], labels: Sequence[str] | None, limits: Limits
) -> list[Upload]:
    """Return the images of a form: with a label each, with one for all, or (None) without any."""
    if not files:
        raise Problem(422, "There are no files. Send images in the field files.")
    if labels is None:
        given = [""] * len(files)
    elif len(labels) == 1:
        given = [checked_label(labels[0])] * len(files)
    elif len(labels) == len(files):
        given = [checked_label(label) for label in labels]
    else:
        raise Problem(
            422,
            f"There are {len(files)} files and {len(labels)} labels. Send a label for each file in "
            "the same order, or one for all.",
        )
    uploads = []
    for file, label in zip(files, given, strict=True):
        name = shown_name(file.filename)
        uploads.append(Upload(ImageFile(name, _reader(file, name, limits)), label))
    return uploads


def _reader(file: UploadFile, name: str, limits: Limits) -> Callable[[], bytes]:
    def read() -> bytes:
        # One byte more than allowed tells whether there is more.
        file.file.seek(0)
        content: bytes = file.file.read(limits.file + 1)
        if len(content) > limits.file:
            raise DataError(
                f"{name} has more than {limits.file:,} bytes, too many for an image. Make it "
                "smaller."
            )
        return content

    return read


@contextmanager
def stored(file: UploadFile, suffix: str) -> Iterator[Path]:
    """Copy an upload to a temporary file of our own naming, for readers that need a path."""
    with tempfile.NamedTemporaryFile(prefix="samovar-", suffix=suffix) as copy:
        file.file.seek(0)
        shutil.copyfileobj(file.file, copy)
        copy.flush()
        yield Path(copy.name)


@contextmanager
def archived_images(file: UploadFile, limits: Limits) -> Iterator[list[Upload]]:
    """Return the images of a zip archive of class folders, which can be read within the block."""
    with stored(file, ".zip") as path:
        try:
            archive = Zip(path, limits.entries, limits.entries * BYTES_OF_ENTRY)
            listed = labelled_archive(archive).images
        except DataError as error:
            status = 413 if isinstance(error, LargeArchiveError) else 422
            raise Problem(status, _without_path(error, path)) from error
        budget = _Budget(limits)
        uploads = []
        for image in listed:
            name = shown_name(image.name)
            size = archive.entries[image.name].file_size
            entry = _Entry(name, size, image.file, budget, limits, path)
            uploads.append(Upload(ImageFile(name, entry.read), checked_label(image.label)))
        try:
            yield uploads
        finally:
            archive.close()


def _without_path(error: DataError, path: Path) -> str:
    """Return what an error says with the client's view of our temporary file."""
    return str(error).replace(f"{path}/", "").replace(str(path), "The archive")


class _Budget:
    """The bytes that may still come out of an archive; several threads unpack."""

    def __init__(self, limits: Limits) -> None:
        self._limits = limits
        self._left = limits.unpacked
        self._lock = threading.Lock()

    def take(self, size: int) -> None:
        """Count bytes that have come out."""
        with self._lock:
            self._left -= size
            if self._left < 0:
                raise Problem(
                    413,
                    f"The archive unpacks to more than {self._limits.unpacked:,} bytes. Divide it.",
                )


@dataclass
class _Entry:
    """An image in an archive."""

    name: str
    """As it is shown."""
    size: int
    """The bytes that the directory says; no more are unpacked."""
    file: ImageFile
    budget: _Budget
    limits: Limits
    path: Path
    """The temporary file of the archive, which no message names."""
    counted: bool = False

    def read(self) -> bytes:
        """Return its bytes; what comes out counts once, however often it is read."""
        if self.size > self.limits.file:
            raise DataError(
                f"{self.name} has more than {self.limits.file:,} bytes. Make it smaller."
            )
        try:
            content = self.file.read()
        except DataError as error:
            raise DataError(_without_path(error, self.path)) from error
        if not self.counted:
            self.budget.take(len(content))
            self.counted = True
        return content
