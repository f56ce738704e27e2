"""What an encoder is: images in, vectors of fixed length out.

An encoder says how one picture is prepared and how a batch of prepared pictures becomes vectors.
The rest is here and the same for all: images of any kind are read and decoded by several threads
(Pillow and ONNX Runtime release Python's lock), a few batches ahead and no more, vectors come out
in the order of the images, and those that a cache holds are not computed again.
"""

import hashlib
import itertools
import json
import os
from abc import ABC, abstractmethod
from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from PIL import Image

from samovar.core.progress import Progress, silent
from samovar.data.images.image_file import ImageFile
from samovar.data.images.pictures import as_picture, decode_picture
from samovar.data.images.user_images import listed
from samovar.encoders.preprocessing import Preprocessing
from samovar.encoders.vector_cache import VectorCache
from samovar.errors import DataError, ModelError

PREPARATION = 1
"""Part of every identity. Increased when the decoder changes what encoders see."""

Vector = NDArray[np.float32]
Encoded = Vector | DataError
"""The vector of an image, or why there is none."""


def _cores() -> int:
    """Return the cores that this process may use; a scheduler may give it fewer than there are."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


CORES = _cores()


def identity_of(**facts: Any) -> str:
    """Return the hash of all that an encoder's vectors depend on, as 64 hexadecimal digits."""
    text = json.dumps(facts | {"preparation": PREPARATION}, sort_keys=True)
    return hashlib.sha256(text.encode()).hexdigest()


@dataclass(frozen=True)
class Prepared:
    """An image that is ready for the network."""

    value: Any
    digest: str | None
    """The hash of its file's bytes; None if it does not come from a file, and is not cached."""


class EncoderGraph(NamedTuple):
    """A network as an ONNX model, from images (n, 3, size, size) float32 to vectors (n, length)."""

    model: bytes
    """Serialised."""
    input: str
    output: str
    """The names of its input and of its output."""


class Encoder(ABC):
    """A frozen function from images to vectors."""

    name: str
    preprocessing: Preprocessing | None
    """None if the encoder takes pictures as they are."""
    length: int
    """Numbers in a vector."""
    identity: str
    """The hash of all that its vectors depend on, but for the rounding of an engine."""
    batch: int = 1
    """Images that the network is given at once."""
    workers: int = CORES
    """Threads that read and decode images, and call the network."""
    file: Path | None = None
    """The ONNX file that it was read from; None for other encoders."""

    def __deepcopy__(self, _: dict[int, Any]) -> "Encoder":
        """Return the encoder itself, which never changes (scikit-learn copies parameters)."""
        return self

    @abstractmethod
    def prepare(self, picture: Image.Image) -> Any:
        """Return what the network takes for an upright RGB picture; called by several threads."""

    @abstractmethod
    def run(self, prepared: Sequence[Any]) -> NDArray[Any]:
        """Return the vectors (n, length) of prepared pictures; called by several threads."""

    def graph(self) -> EncoderGraph:
        """Return the network as an ONNX model; only some encoders are one."""
        raise ModelError(
            f"The encoder {self.name} is not an ONNX model, and cannot become part of one."
        )

    @property
    def input_size(self) -> int | None:
        """Height and width of the network's input in pixels; None if it takes any size."""
        return None if self.preprocessing is None else self.preprocessing.size

    def to_json(self) -> dict[str, Any]:
        """Return what identifies the encoder, to be stored with its vectors."""
        preprocessing = None
        if self.preprocessing is not None:
            preprocessing = self.preprocessing.to_json()
        stored = {
            "name": self.name,
            "identity": self.identity,
            "length": self.length,
            "preprocessing": preprocessing,
        }
        if self.file is not None:
            stored["path"] = str(self.file.resolve())
        return stored

    def encode(
        self, images: Any, progress: Progress = silent, cache: VectorCache | None = None
    ) -> Vector:
        """Return the vectors (n, length) of images: paths, PIL images, arrays or tensors.

        An image that cannot be read is an error that names it.
        """
        items = listed(images)
        vectors = np.empty((len(items), self.length), np.float32)
        for position, encoded in enumerate(self.stream(items, cache)):
            if isinstance(encoded, DataError):
                raise encoded
            vectors[position] = encoded
            progress(f"{position + 1} of {len(items)} images", (position + 1) / len(items))
        return vectors

    def stream(self, images: Iterable[Any], cache: VectorCache | None = None) -> Iterator[Encoded]:
        """Yield a vector for each image, in order, or the error of one that cannot be read.

        Few images are in memory at any time, so that there may be any number of them.
        """
        remaining: Iterator[tuple[int, Any]] = enumerate(images)
        batch = list(itertools.islice(remaining, self.batch))
        following = list(itertools.islice(remaining, 1))
        if not following:  # threads would only cost time
            yield from self._encode_batch(_loaded(batch), cache)
            return
        remaining = itertools.chain(batch, following, remaining)
        pending: deque[Future[list[Encoded]]] = deque()
        with ThreadPoolExecutor(self.workers, "samovar-encode") as pool:
            try:
                while batch := list(itertools.islice(remaining, self.batch)):
                    pending.append(pool.submit(self._encode_batch, _loaded(batch), cache))
                    if len(pending) > 2 * self.workers:
                        yield from pending.popleft().result()
                while pending:
                    yield from pending.popleft().result()
            finally:  # reached too when the reader stops early
                pool.shutdown(wait=True, cancel_futures=True)

    def _encode_batch(
        self, images: Sequence[tuple[int, Any]], cache: VectorCache | None
    ) -> list[Encoded]:
        results: list[Encoded | None] = []
        waiting: list[tuple[int, Prepared]] = []
        for position, image in images:
            outcome = self._prepare_image(image, position, cache)
            if isinstance(outcome, Prepared):
                waiting.append((len(results), outcome))
                results.append(None)
            else:
                results.append(outcome)
        if waiting:
            vectors = self._checked_run([prepared.value for _, prepared in waiting])
            for (place, prepared), vector in zip(waiting, vectors, strict=True):
                results[place] = vector
                if cache is not None and prepared.digest is not None:
                    cache.put(self.identity, prepared.digest, vector)
        return [result for result in results if result is not None]

    def _prepare_image(
        self, image: Any, position: int, cache: VectorCache | None
    ) -> Prepared | Encoded:
        """Return what the network takes, or the vector if it is known, or what is wrong."""
        try:
            if isinstance(image, str | Path):
                image = ImageFile.at(Path(image))
            if not isinstance(image, ImageFile):
                return Prepared(self.prepare(as_picture(image, position)), None)
            content = image.read()
            digest = None
            if cache is not None:
                digest = hashlib.sha256(content).hexdigest()
                vector = cache.get(self.identity, digest, self.length)
                if vector is not None:
                    return vector
            picture = decode_picture(content, image.name, self._least_side())
            return Prepared(self.prepare(picture), digest)
        except DataError as error:
            return error

    def _least_side(self) -> int | None:
        """Return the pixels that a large JPEG keeps: twice what it is resized to."""
        if self.preprocessing is None:
            return None
        return 2 * self.preprocessing.resize

    def _checked_run(self, prepared: Sequence[Any]) -> Vector:
        vectors = np.asarray(self.run(prepared), dtype=np.float32)
        if vectors.shape != (len(prepared), self.length):
            raise ModelError(
                f"The encoder {self.name} returned an array of the shape {vectors.shape} for "
                f"{len(prepared)} images, instead of {(len(prepared), self.length)}."
            )
        if not np.isfinite(vectors).all():
            raise ModelError(
                f"The encoder {self.name} returned numbers that are not finite. Check that its "
                "preprocessing is the one it was trained with."
            )
        return vectors


def _loaded(batch: list[tuple[int, Any]]) -> list[tuple[int, Any]]:
    """Load the PIL images of a batch here: two threads must not decode the same object."""
    for _, image in batch:
        if isinstance(image, Image.Image):
            try:
                image.load()
            except Exception:  # `as_picture` will meet it again and say which image it is
                continue
    return batch
