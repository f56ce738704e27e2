"""A collection of images as one file of vectors: the work of `samovar embed`.

The work is done in chunks. Each finished chunk is a file in a folder beside the output, so that
after an interruption only the chunk that was being worked on is lost. When all are there, the
output is written whole and the folder is removed. Two processes with the same output take turns:
the second finds the work done. Images that could not be read are tried again each time: somebody
may have repaired them, or installed what they need.
"""

import shutil
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
from filelock import FileLock
from numpy.typing import NDArray

from samovar.core.files import output_folder, remove_leftovers, write_whole
from samovar.core.input_files import read_input
from samovar.core.progress import Progress, silent
from samovar.encoders.base import Encoder
from samovar.encoders.chunk import Chunk, read_chunk
from samovar.encoders.image_list import ListedImage, fingerprint_images
from samovar.encoders.vector_cache import VectorCache
from samovar.encoders.vector_file import (
    Precision,
    SkippedImage,
    VectorFileFacts,
    read_facts,
    write_vectors,
)
from samovar.errors import DataError, OutputError, SettingsError

PLAN = "inputs.txt"
"""Says of which inputs the chunks beside it are."""
LONGEST_PLAN = 10_000
"""Bytes of that file."""
CHUNK = 512
"""Images in a chunk: a few seconds of work for a small encoder, minutes for a large one."""


@dataclass(frozen=True)
class Embedded:
    """What came of embedding a collection."""

    images: int
    """Images with a vector."""
    classes: int
    encoder: dict[str, Any]
    skipped: tuple[SkippedImage, ...]
    from_cache: int = 0
    resumed: int = 0
    """Images that an interrupted process had encoded already."""
    already_there: bool = False
    """The output was finished before, from the same images by the same encoder."""

    def to_json(self) -> dict[str, Any]:
        """Return the JSON form."""
        return asdict(self)


def embed(  # noqa: PLR0913 - all but the first three have defaults
    images: Sequence[ListedImage],
    encoder: Encoder,
    out: Path,
    *,
    precision: Precision = "float32",
    cache: VectorCache | None = None,
    progress: Progress = silent,
    may_be_empty: bool = False,
) -> Embedded:
    """Encode images into a file of vectors; go on where an earlier call was interrupted.

    It is an error if none of the images can be read, unless the file `may_be_empty` because it is
    a part of a larger one.
    """
    check_output(out)
    output_folder(out.parent)
    inputs = inputs_of(images, encoder, precision)
    with FileLock(out.with_name(f".{out.name}.lock")):
        remove_leftovers(out.parent, out.name)
        finished = finished_before(images, encoder, out, precision)
        work = _Work(images, encoder, out, inputs)
        if finished is not None:
            work.remove_chunks()
            progress("done", 1.0)
            return finished
        work.make_chunks(cache, progress)
        return work.finish(precision, may_be_empty=may_be_empty)


def check_output(out: Path) -> None:
    """Refuse a name that no file of vectors has."""
    if out.suffix != ".npz":
        raise SettingsError(f"The name of the output ends with .npz, unlike {str(out)!r}.")
    if out.is_dir():
        raise OutputError(f"Cannot write {out}: there is a folder of that name.")


def inputs_of(images: Sequence[ListedImage], encoder: Encoder, precision: Precision) -> str:
    """Return what says of which images a file of vectors is, and how they were encoded."""
    return f"{encoder.identity} {precision} {fingerprint_images(images)}"


def finished_before(
    images: Sequence[ListedImage], encoder: Encoder, out: Path, precision: Precision
) -> Embedded | None:
    """Return what a finished output holds.

    None if there is none, if it is of other inputs, or if an image that it lacks can be read now.
    """
    found = read_facts(out)
    if found is None:
        return None
    facts, labels = found
    if facts.inputs != inputs_of(images, encoder, precision):
        return None
    if _any_readable(facts.skipped, images, encoder):
        return None
    return Embedded(len(labels), len(set(labels)), facts.encoder, facts.skipped, already_there=True)


def _any_readable(
    skipped: Sequence[SkippedImage], images: Sequence[ListedImage], encoder: Encoder
) -> bool:
    """Return whether any image that was skipped can be encoded now."""
    if not skipped:
        return False
    names = {image.path for image in skipped}
    files = [image.file for image in images if image.name in names]
    return any(not isinstance(encoded, DataError) for encoded in encoder.stream(files))


class _Work:
    """The work on one output file."""

    def __init__(
        self, images: Sequence[ListedImage], encoder: Encoder, out: Path, inputs: str
    ) -> None:
        self.images = images
        self.encoder = encoder
        self.out = out
        self.inputs = inputs
        self.folder = out.with_name(f"{out.name}.parts")
        self.skipped: list[SkippedImage] = []
        self.kept: list[ListedImage] = []
        self.from_cache = 0
        self.resumed = 0

    def make_chunks(self, cache: VectorCache | None, progress: Progress) -> None:
        """Encode all images that no earlier process has encoded."""
        hits = 0 if cache is None else cache.hits
        self._open_folder()
        for start in range(0, len(self.images), CHUNK):
            self._make_chunk(start, cache, progress)
        if cache is not None:
            self.from_cache = cache.hits - hits

    def finish(self, precision: Precision, *, may_be_empty: bool) -> Embedded:
        """Write the output and remove the chunks."""
        if not self.kept and not may_be_empty:
            shutil.rmtree(self.folder, ignore_errors=True)
            raise DataError(f"None of the images can be encoded: {self.skipped[0].reason}")
        facts = VectorFileFacts(self.encoder.to_json(), self.inputs, tuple(self.skipped))
        write_vectors(self.out, self._features(), self.kept, facts, precision)
        shutil.rmtree(self.folder, ignore_errors=True)
        classes = {image.label for image in self.kept}
        return Embedded(
            len(self.kept),
            len(classes),
            facts.encoder,
            facts.skipped,
            self.from_cache,
            self.resumed,
        )

    def remove_chunks(self) -> None:
        """Remove the chunks of a process that was killed after it had written the output."""
        half_removed = not (self.folder / PLAN).exists()
        if half_removed or self._has_chunks():
            shutil.rmtree(self.folder, ignore_errors=True)

    def _has_chunks(self) -> bool:
        """Tell whether there are chunks of an interrupted process with the same inputs."""
        if self.folder.is_symlink():
            return False  # what it leads to is not ours
        try:
            return read_input(self.folder / PLAN, LONGEST_PLAN) == self.inputs.encode()
        except DataError:
            return False

    def _open_folder(self) -> None:
        """Keep the chunks of an interrupted process if they are of the same inputs."""
        if self._has_chunks():
            return
        if self.folder.is_symlink():
            self.folder.unlink()
        shutil.rmtree(self.folder, ignore_errors=True)
        output_folder(self.folder)
        write_whole(self.folder / PLAN, self.inputs.encode())

    def _chunk_path(self, start: int) -> Path:
        return self.folder / f"{start:09}.npz"

    def _make_chunk(self, start: int, cache: VectorCache | None, progress: Progress) -> None:
        """Encode the images of a chunk, unless that was done before."""
        images = self.images[start : start + CHUNK]
        chunk = read_chunk(self._chunk_path(start), len(images), self.encoder.length)
        if chunk is None or _any_readable(_skipped(images, chunk), images, self.encoder):
            chunk = self._encode_chunk(start, cache, progress)
            write_whole(self._chunk_path(start), chunk.to_bytes())
        else:
            self.resumed += len(chunk.features)
        self.skipped += _skipped(images, chunk)
        for image, reason in zip(images, chunk.reasons, strict=True):
            if not reason:
                self.kept.append(image)

    def _encode_chunk(self, start: int, cache: VectorCache | None, progress: Progress) -> Chunk:
        images = self.images[start : start + CHUNK]
        files = [image.file for image in images]
        vectors: list[NDArray[np.float32]] = []
        reasons: list[str] = []
        for image, encoded in zip(images, self.encoder.stream(files, cache), strict=True):
            if isinstance(encoded, DataError):
                # By its name in the folder, so that it does not matter how one got there.
                reasons.append(str(encoded).replace(str(image.file.name), image.name))
            else:
                reasons.append("")
                vectors.append(encoded)
            done = start + len(reasons)
            progress(f"{done} of {len(self.images)} images", done / len(self.images))
        features = np.array(vectors, np.float32).reshape(len(vectors), self.encoder.length)
        return Chunk(features, reasons)

    def _features(self) -> Iterator[NDArray[np.float32]]:
        for start in range(0, len(self.images), CHUNK):
            path = self._chunk_path(start)
            count = len(self.images[start : start + CHUNK])
            chunk = read_chunk(path, count, self.encoder.length)
            if chunk is None:
                raise OutputError(
                    f"{path} was changed while it was needed. Run the same command again."
                )
            yield chunk.features


def _skipped(images: Sequence[ListedImage], chunk: Chunk) -> list[SkippedImage]:
    """Return the images of a chunk that could not be read."""
    skipped = []
    for image, reason in zip(images, chunk.reasons, strict=True):
        if reason:
            skipped.append(SkippedImage(image.name, reason))
    return skipped
