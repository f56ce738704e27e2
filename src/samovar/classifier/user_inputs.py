"""A user's images as a model takes them: converted to small arrays, or as an encoder's vectors."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from samovar.artifacts.saved_model import SavedModel
from samovar.artifacts.saved_regression import SavedRegression
from samovar.classifier.loading import image_conversion
from samovar.core.progress import Progress, silent
from samovar.data.images.conversion import Conversion
from samovar.data.images.decode import decode
from samovar.data.images.image_file import ImageFile
from samovar.data.images.pictures import shown_picture
from samovar.data.images.user_images import Unreadable
from samovar.encoders.vector_cache import VectorCache
from samovar.errors import DataError

SHOWN_SIDE = 380
"""Pixels of the longer side of an image in a picture of answers, about as many as it has room."""


@dataclass(frozen=True)
class UserInputs:
    """The image files that can be read, as the model takes them, and those that cannot."""

    files: list[ImageFile] = field(default_factory=list)
    inputs: list[Tensor] = field(default_factory=list)
    unreadable: list[Unreadable] = field(default_factory=list)
    positions: list[int] = field(default_factory=list)
    """Where the files that can be read stood in the user's list."""

    @property
    def paths(self) -> list[Path]:
        """The paths of the files that can be read; inside an archive, after its own path."""
        return [Path(file.name) for file in self.files]


def read_inputs(
    images: Sequence[Path | ImageFile],
    saved: SavedModel | SavedRegression,
    model: str,
    progress: Progress = silent,
    cache: VectorCache | None = None,
) -> UserInputs:
    """Read all image files that can be read, for a model that errors call `model`.

    Vectors that the cache holds are not computed again.
    """
    files = [_as_file(image) for image in images]
    result = UserInputs()
    inputs = _inputs_of(files, saved, model, cache)
    for position, (file, image) in enumerate(zip(files, inputs, strict=True)):
        if isinstance(image, DataError):
            result.unreadable.append(Unreadable(Path(file.name), str(image)))
        else:
            result.files.append(file)
            result.inputs.append(image)
            result.positions.append(position)
        progress(f"{position + 1} of {len(files)} images", (position + 1) / len(files))
    return result


def _as_file(image: Path | ImageFile) -> ImageFile:
    if isinstance(image, ImageFile):
        return image
    return ImageFile.at(image)


def _inputs_of(
    files: Sequence[ImageFile],
    saved: SavedModel | SavedRegression,
    model: str,
    cache: VectorCache | None,
) -> Iterator[Tensor | DataError]:
    """Yield what the model takes for each file, or the error of one that cannot be read."""
    if saved.encoder is None:
        assert isinstance(saved, SavedModel)  # a regression has an encoder
        yield from _converted_files(files, image_conversion(saved, model))
        return
    for vector in saved.open_encoder().stream(files, cache):
        if isinstance(vector, DataError):
            yield vector
        else:
            yield torch.from_numpy(vector)


def _converted_files(
    files: Sequence[ImageFile], conversion: Conversion
) -> Iterator[Tensor | DataError]:
    for file in files:
        try:
            yield torch.tensor(decode(file.read(), file.name, conversion))
        except DataError as error:
            yield error


def encoded_images(
    images: Any, saved: SavedModel | SavedRegression, progress: Progress = silent
) -> list[Tensor]:
    """Return the encoder's vector of each image; a matrix of such vectors is taken as it is."""
    assert saved.encoder is not None
    vectors = _given_vectors(images, saved.encoder.length)
    if vectors is None:
        vectors = torch.from_numpy(saved.open_encoder().encode(images, progress))
    return list(vectors)


def _given_vectors(images: Any, length: int) -> Tensor | None:
    """Return a matrix of vectors of the right length as a tensor; None for anything else."""
    if not isinstance(images, np.ndarray | Tensor) or images.ndim != 2 or images.shape[1] != length:
        return None
    vectors = torch.as_tensor(images).detach().cpu()
    if not vectors.is_floating_point() or not bool(vectors.isfinite().all()):
        raise DataError("The vectors of an encoder must be finite floating-point numbers.")
    return vectors.float().clone()


def shown_images(files: Sequence[ImageFile]) -> list[NDArray[np.uint8]]:
    """Return images as whole pictures (H, W, 3), as good as a picture of answers can show them."""
    pictures = []
    for file in files:
        picture = shown_picture(file.read(), file.name, SHOWN_SIDE)
        pictures.append(np.asarray(picture, np.uint8))
    return pictures
