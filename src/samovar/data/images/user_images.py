"""Users' images (paths, PIL images, arrays, tensors, folders), converted to what a model takes."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from PIL import Image

from samovar.core.progress import Progress, silent
from samovar.data.images.conversion import Colour, Conversion, convert
from samovar.data.images.decode import decode
from samovar.data.images.image_file import ImageFile
from samovar.data.sources import REGISTRY
from samovar.data.store import Store
from samovar.errors import DataError


def conversion_of(store: Store) -> Conversion | None:
    """Return how new images become like those of a store; None for feature vectors."""
    shape = store.facts["shape"]
    if len(shape) != 3:
        return None
    colour: Colour = "rgb" if shape[2] == 3 else "grey"
    facts = _source_facts(store)
    # For a folder, the user chose whether images are inverted.
    inverted = store.facts.get("options", {}).get("inverted", facts.get("inverted", False))
    return Conversion(shape[0], colour, facts.get("resampling", "bilinear"), bool(inverted))


def _source_facts(store: Store) -> dict[str, Any]:
    """Return the facts of the store's source; empty if nothing is known of it."""
    if "resampling" in store.facts:
        return store.facts
    # Stores of version 0.1 record only the name of their source, which may differ from their own.
    source = REGISTRY.get(store.facts.get("source_name", store.name))
    if source is None:
        return {}
    return source.facts()


def listed(images: Any) -> Sequence[Any]:
    """Return whatever holds several images as a sequence; refuse a single path or image."""
    if isinstance(images, str | Path | Image.Image):
        raise DataError(
            "Give several images: a list of paths or images, or an array with a leading axis."
        )
    images = _only_column(images)
    if isinstance(images, np.ndarray) and images.ndim == 1 and images.dtype.kind in "UO":
        return images.tolist()  # an array of paths
    if isinstance(images, np.ndarray | torch.Tensor):
        if images.ndim < 3:
            raise DataError(
                "An array of images must be (n, H, W) or (n, H, W, C), but is "
                f"{tuple(images.shape)}."
            )
        return images  # type: ignore[return-value]
    if isinstance(images, Iterable):
        return list(images)
    return [images]


def _only_column(images: Any) -> Any:
    """Return the column of a table with one column of paths or images; anything else as it is."""
    if hasattr(images, "iloc"):  # a pandas DataFrame, which would be read as its columns' names
        images = images.to_numpy()
    if isinstance(images, np.ndarray) and images.ndim == 2 and images.dtype.kind in "UO":
        if images.shape[1] != 1:
            raise DataError(
                f"A table of images must have one column, but has {images.shape[1]}. Choose the "
                "column of the paths."
            )
        return images[:, 0]
    return images


def converted(images: Any, conversion: Conversion) -> Iterator[NDArray[np.uint8]]:
    """Yield each image as (H, W, C) uint8, like those that the model was trained on."""
    for position, image in enumerate(listed(images)):
        if isinstance(image, str | Path):
            image = ImageFile.at(Path(image))
        if isinstance(image, ImageFile):
            yield decode(image.read(), image.name, conversion)
        elif isinstance(image, Image.Image):
            yield convert(image, conversion)
        elif isinstance(image, torch.Tensor):
            yield convert(array_picture(image.detach().cpu().numpy(), position), conversion)
        else:
            yield convert(array_picture(np.asarray(image), position), conversion)


def network_images(
    images: Any, conversion: Conversion, progress: Progress = silent
) -> list[torch.Tensor]:
    """Return each image as a tensor (H, W, C) uint8."""
    if isinstance(images, np.ndarray | torch.Tensor):
        ready = _already_converted(images, conversion)
        if ready is not None:
            return list(ready.cpu())
    items = listed(images)
    tensors = []
    for number, array in enumerate(converted(items, conversion), start=1):
        tensors.append(torch.tensor(array))
        progress(f"{number} of {len(items)} images", number / len(items))
    return tensors


def _already_converted(
    images: NDArray[Any] | torch.Tensor, conversion: Conversion
) -> torch.Tensor | None:
    """Return uint8 images that have the right shape already, which need not go through Pillow."""
    if tuple(images.shape[1:]) != conversion.shape:
        return None
    tensor = torch.as_tensor(images)
    if tensor.dtype != torch.uint8:
        return None
    if conversion.inverted:
        return 255 - tensor
    return tensor.clone()  # the caller may change its array later


def array_picture(array: NDArray[Any], position: int) -> Image.Image:
    """Make a picture of an array, uint8 or float from 0 to 1.

    Its shape is (H, W) or (H, W, C), or (C, H, W) as in torch, with 1, 3 or 4 channels.
    """
    channels = (1, 3, 4)
    # (C, H, W), unless the last axis can be channels.
    if array.ndim == 3 and array.shape[-1] not in channels and array.shape[0] in channels:
        array = np.moveaxis(array, 0, -1)
    if array.ndim == 3 and array.shape[-1] == 1:
        array = array[..., 0]
    grey = array.ndim == 2
    coloured = array.ndim == 3 and array.shape[-1] in (3, 4)
    if 0 in array.shape or not (grey or coloured):
        raise DataError(
            f"Image {position} has the shape {array.shape}; give (H, W), (H, W, 3) or (H, W, 4)."
        )
    return Image.fromarray(np.ascontiguousarray(_eight_bits(array, position)))


def _eight_bits(array: NDArray[Any], position: int) -> NDArray[np.uint8]:
    """Return the values of an image as uint8: bools and floats from 0 to 1 are scaled."""
    if array.dtype == np.bool_:
        return array.astype(np.uint8) * 255
    if np.issubdtype(array.dtype, np.floating):
        if not np.isfinite(array).all() or array.min() < 0 or array.max() > 1:
            raise DataError(
                f"Image {position} has floating-point values outside 0 to 1. Scale them, or give "
                "uint8."
            )
        return (array * 255).round().astype(np.uint8)
    if not np.issubdtype(array.dtype, np.integer) or array.min() < 0 or array.max() > 255:
        raise DataError(
            f"Image {position} has values that are neither uint8 nor floats from 0 to 1 "
            f"({array.dtype})."
        )
    return array.astype(np.uint8)


@dataclass(frozen=True)
class Unreadable:
    """An image that was skipped, and why."""

    path: Path
    reason: str
