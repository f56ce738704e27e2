"""A user's images as a model takes them: converted to small arrays, or as an encoder's vectors."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from samovar.artifacts.saved_model import SavedModel
from samovar.artifacts.saved_regression import SavedRegression
from samovar.classifier.loading import image_conversion
from samovar.core.progress import Progress, silent
from samovar.data.images.conversion import Conversion
from samovar.data.images.user_images import Unreadable, readable
from samovar.encoders.base import Encoder
from samovar.encoders.vector_cache import VectorCache
from samovar.errors import DataError

SHOWN_SIZE = 224
"""Pixels of the images that a picture of answers shows, where the model has no size of its own."""


class UserInputs(NamedTuple):
    """The image files that can be read, as the model takes them, and those that cannot."""

    paths: list[Path]
    inputs: list[Tensor]
    unreadable: list[Unreadable]


def read_inputs(
    paths: Sequence[Path],
    saved: SavedModel | SavedRegression,
    model: str,
    progress: Progress = silent,
    cache: VectorCache | None = None,
) -> UserInputs:
    """Read all image files that can be read, for a model that errors call `model`.

    Vectors that the cache holds are not computed again.
    """
    if saved.encoder is not None:
        return _encoded_files(paths, saved.open_encoder(), progress, cache)
    assert isinstance(saved, SavedModel)  # a regression has an encoder
    read, arrays, unreadable = readable(paths, image_conversion(saved, model))
    return UserInputs(read, [torch.tensor(array) for array in arrays], unreadable)


def _encoded_files(
    paths: Sequence[Path], encoder: Encoder, progress: Progress, cache: VectorCache | None
) -> UserInputs:
    result = UserInputs([], [], [])
    vectors = encoder.stream(paths, cache)
    for number, (path, vector) in enumerate(zip(paths, vectors, strict=True), start=1):
        if isinstance(vector, DataError):
            result.unreadable.append(Unreadable(path, str(vector)))
        else:
            result.paths.append(path)
            result.inputs.append(torch.from_numpy(vector))
        progress(f"{number} of {len(paths)} images", number / len(paths))
    return result


def encoded_images(images: Any, saved: SavedModel | SavedRegression) -> list[Tensor]:
    """Return the encoder's vector of each image; a matrix of such vectors is taken as it is."""
    assert saved.encoder is not None
    vectors = _given_vectors(images, saved.encoder.length)
    if vectors is None:
        vectors = torch.from_numpy(saved.open_encoder().encode(images))
    return list(vectors)


def _given_vectors(images: Any, length: int) -> Tensor | None:
    """Return a matrix of vectors of the right length as a tensor; None for anything else."""
    if not isinstance(images, np.ndarray | Tensor) or images.ndim != 2 or images.shape[1] != length:
        return None
    vectors = torch.as_tensor(images).detach().cpu()
    if not vectors.is_floating_point() or not bool(vectors.isfinite().all()):
        raise DataError("The vectors of an encoder must be finite floating-point numbers.")
    return vectors.float().clone()


def shown_images(read: UserInputs, saved: SavedModel | SavedRegression) -> list[NDArray[np.uint8]]:
    """Return the images that were read as arrays (H, W, C), as a picture of answers shows them."""
    if saved.encoder is not None:
        return readable(read.paths, Conversion(SHOWN_SIZE)).arrays
    return [image.numpy() for image in read.inputs]
