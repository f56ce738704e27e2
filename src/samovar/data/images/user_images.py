"""Users' images (paths, PIL images, arrays, tensors, folders), converted to what a model takes."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray
from PIL import Image

from samovar.data.images.conversion import Colour, Conversion, convert
from samovar.data.images.decode import decode, read_file
from samovar.data.sources import REGISTRY
from samovar.data.sources.folder import class_folders
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


def read_image(path: Path, conversion: Conversion) -> NDArray[np.uint8]:
    """Return an image file as (H, W, C) uint8."""
    return decode(read_file(path), str(path), conversion)


def labelled_folder(root: Path) -> tuple[list[Path], list[str]]:
    """Return the images of ROOT/class/image and their class names.

    Links that lead out of the folder are refused.
    """
    if not root.is_dir():
        raise DataError(f"There is no folder {root}.")
    classes = class_folders(root)
    if not classes:
        raise DataError(
            f"{root} has no class folders. Put the images of each class into a folder named after "
            "it."
        )
    images: list[Path] = []
    names: list[str] = []
    for folder, paths in classes:
        images += paths
        names += [folder.name] * len(paths)
    return images, names


def listed(images: Any) -> Sequence[Any]:
    """Return whatever holds several images as a sequence; refuse a single path or image."""
    if isinstance(images, str | Path | Image.Image):
        raise DataError(
            "Give several images: a list of paths or images, or an array with a leading axis."
        )
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


def converted(images: Any, conversion: Conversion) -> Iterator[NDArray[np.uint8]]:
    """Yield each image as (H, W, C) uint8, like those that the model was trained on."""
    for position, image in enumerate(listed(images)):
        if isinstance(image, str | Path):
            yield read_image(Path(image), conversion)
        elif isinstance(image, Image.Image):
            yield convert(image, conversion)
        elif isinstance(image, torch.Tensor):
            yield convert(array_picture(image.detach().cpu().numpy(), position), conversion)
        else:
            yield convert(array_picture(np.asarray(image), position), conversion)


def network_images(images: Any, conversion: Conversion) -> list[torch.Tensor]:
    """Return each image as a tensor (H, W, C) uint8."""
    if isinstance(images, np.ndarray | torch.Tensor):
        ready = _already_converted(images, conversion)
        if ready is not None:
            return list(ready.cpu())
    return [torch.tensor(array) for array in converted(images, conversion)]


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


class Readable(NamedTuple):
    """The images that can be read, as paths and arrays, and those that cannot."""

    paths: list[Path]
    arrays: list[NDArray[np.uint8]]
    unreadable: list[Unreadable]


def readable(paths: Sequence[Path], conversion: Conversion) -> Readable:
    """Read all images that can be read; list the others with the reason."""
    result = Readable([], [], [])
    for path in paths:
        try:
            array = read_image(path, conversion)
        except DataError as error:
            result.unreadable.append(Unreadable(path, str(error)))
        else:
            result.paths.append(path)
            result.arrays.append(array)
    return result
