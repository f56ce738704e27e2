"""From a client's images to examples of a task: encoded, without copies, and with their names."""

import hashlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from torch import Tensor

from samovar.classifier.chosen_encoder import Saved
from samovar.classifier.copies import copy_notes, find_copies
from samovar.classifier.support_names import DIGEST, SupportNames
from samovar.classifier.user_inputs import read_inputs
from samovar.core.progress import Progress
from samovar.data.images.image_file import ImageFile
from samovar.service.problems import Problem, SkippedFile
from samovar.service.uploads import Upload


@dataclass(frozen=True)
class ReadImages:
    """The images of a request that can be read, as the model takes them, and the others."""

    uploads: list[Upload]
    inputs: list[Tensor]
    digests: list[str]
    """The beginnings of the SHA-256 of the files."""
    positions: list[int]
    """Where they stood in the request."""
    skipped: list[SkippedFile]

    def names(self) -> SupportNames:
        """Return what a task remembers of them."""
        return SupportNames(
            tuple(upload.file.name for upload in self.uploads),
            tuple(upload.label for upload in self.uploads),
            tuple(self.digests),
        )

    def at(self, positions: Sequence[int]) -> "ReadImages":
        """Return the images at some places of this list."""
        return replace(
            self,
            uploads=[self.uploads[position] for position in positions],
            inputs=[self.inputs[position] for position in positions],
            digests=[self.digests[position] for position in positions],
            positions=[self.positions[position] for position in positions],
        )


def read_uploads(
    uploads: Sequence[Upload], saved: Saved, model: str, progress: Progress
) -> ReadImages:
    """Decode and encode images; those that cannot be read are named, unless none is left."""
    digests: dict[int, str] = {}
    files = []
    for position, upload in enumerate(uploads):
        files.append(replace(upload.file, read=_with_digest(upload.file, position, digests)))
    read = read_inputs(files, saved, model, progress)
    skipped = [SkippedFile(name=str(bad.path), reason=bad.reason) for bad in read.unreadable]
    if not read.inputs:
        reason = skipped[0].reason if skipped else "there are none."
        raise Problem(422, f"No image can be read: {reason}", skipped=skipped)
    return ReadImages(
        [uploads[position] for position in read.positions],
        read.inputs,
        [digests[position] for position in read.positions],
        read.positions,
        skipped,
    )


def _with_digest(file: ImageFile, position: int, digests: dict[int, str]) -> Callable[[], bytes]:
    """Return a reader that notes the checksum of what it reads.

    By position and not by name, since a client may send ten files of the same name.
    """

    def read() -> bytes:
        content = file.read()
        digests[position] = hashlib.sha256(content).hexdigest()[:DIGEST]
        return content

    return read


def without_copies(
    images: ReadImages, earlier: SupportNames | None
) -> tuple[ReadImages, list[str]]:
    """Return the images that the task does not have yet, and notes about copies."""
    copies = find_copies(images.names(), earlier)
    return images.at(copies.kept), copy_notes(copies)
