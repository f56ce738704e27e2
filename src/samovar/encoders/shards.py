"""The file of vectors of a collection, put together from those of its parts.

The parts are made by `samovar embed --shard i/n`, by whatever runs them. The whole is the file that
one process would have written, to the byte.
"""

from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from samovar.core.files import output_folder
from samovar.core.progress import Progress, silent
from samovar.data.npz import read_npz
from samovar.encoders.base import Encoder
from samovar.encoders.embedding import Embedded, finished_before, inputs_of
from samovar.encoders.image_list import ListedImage, shard_of
from samovar.encoders.listing import write_listing
from samovar.encoders.vector_file import (
    Precision,
    SkippedImage,
    VectorFileFacts,
    read_facts,
    write_vectors,
)
from samovar.errors import DataError


def shard_name(number: int, count: int) -> str:
    """Return the name of the file of a part.

    >>> shard_name(3, 100)
    '00003-of-00100.npz'
    """
    return f"{number:05}-of-{count:05}.npz"


def listing_name(number: int, count: int) -> str:
    """Return the name of the file that lists the images of a part."""
    return f"{number:05}-of-{count:05}.json"


def shards_folder(out: Path) -> Path:
    """Return the folder of the parts of an output."""
    return out.with_name(f"{out.name}.shards")


class Shards:
    """The parts of one output: which images they hold, and what has come of them."""

    def __init__(
        self,
        images: Sequence[ListedImage],
        encoder: Encoder,
        precision: Precision,
        count: int,
    ) -> None:
        self.images = images
        self.encoder = encoder
        self.precision = precision
        self.count = count

    def finished(self, out: Path) -> Embedded | None:
        """Return what the whole holds if it was finished before."""
        return finished_before(self.images, self.encoder, out, self.precision)

    def write_listings(self, folder: Path) -> None:
        """Write down the images of each part."""
        output_folder(folder)
        for number in range(1, self.count + 1):
            write_listing(folder / listing_name(number, self.count), self._part(number))

    def join(self, folder: Path, out: Path, progress: Progress = silent) -> Embedded:
        """Write the whole from the parts in a folder; an error if one of them is not there."""
        kept: list[ListedImage] = []
        skipped: list[SkippedImage] = []
        for number in range(1, self.count + 1):
            part = self._checked(folder / shard_name(number, self.count), number)
            names = {image.path for image in part}
            skipped += part
            kept += [image for image in self._part(number) if image.name not in names]
        inputs = inputs_of(self.images, self.encoder, self.precision)
        facts = VectorFileFacts(self.encoder.to_json(), inputs, tuple(skipped))
        write_vectors(out, self._features(folder, progress), kept, facts, self.precision)
        classes = {image.label for image in kept}
        return Embedded(len(kept), len(classes), facts.encoder, facts.skipped)

    def _part(self, number: int) -> Sequence[ListedImage]:
        return shard_of(self.images, f"{number}/{self.count}")

    def _checked(self, path: Path, number: int) -> tuple[SkippedImage, ...]:
        """Return the images that a part has skipped; refuse a part of other inputs."""
        found = read_facts(path)
        inputs = inputs_of(self._part(number), self.encoder, self.precision)
        if found is None or found[0].inputs != inputs:
            raise DataError(
                f"Part {number} of {self.count} is missing, or was made of other images or by "
                "another encoder. The same command makes it."
            )
        return found[0].skipped

    def _features(self, folder: Path, progress: Progress) -> Iterator[NDArray[np.float32]]:
        for number in range(1, self.count + 1):
            yield read_npz(folder / shard_name(number, self.count), ("features",))["features"]
            progress(f"joining part {number} of {self.count}", number / self.count)
