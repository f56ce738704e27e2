"""Images as people have them (paths, PIL images, arrays, tensors, folders) to what a model takes."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from PIL import Image

from samovar.data.images.conversion import Conversion, convert
from samovar.data.images.decode import decode, read_file
from samovar.data.sources import REGISTRY
from samovar.data.sources.folder import class_folders
from samovar.data.store import Store
from samovar.errors import DataError


def conversion_of(store: Store) -> Conversion | None:
    """How new images become like those of a store; None for feature vectors."""
    shape, options = store.facts["shape"], store.facts["options"]
    if len(shape) != 3:
        return None
    name = store.facts.get("source_name", store.name)  # a store may be kept under another name
    source = REGISTRY.get(name)
    inverted = bool(options.get("inverted", source is not None and source.inverted))
    resampling = "lanczos" if name in ("omniglot", "glyphs") else "bilinear"
    return Conversion(shape[0], "rgb" if shape[2] == 3 else "grey", resampling, inverted)  # type: ignore[arg-type]


def read_image(path: Path, conversion: Conversion) -> NDArray[np.uint8]:
    """An image file to (H, W, C) uint8."""
    return decode(read_file(path), str(path), conversion)


def labelled_folder(root: Path) -> tuple[list[Path], list[str]]:
    """The images of FOLDER/class/image and their class names; links that lead out of the folder are refused."""
    if not root.is_dir():
        raise DataError(f"There is no folder {root}.")
    folders = class_folders(root)
    if not folders:
        raise DataError(
            f"{root} has no class folders. Put the images of each class into a folder named after it."
        )
    pairs = [(path, folder.name) for folder, paths in folders for path in paths]
    return [path for path, _ in pairs], [name for _, name in pairs]


def listed(images: Any) -> Sequence[Any]:
    """Whatever holds several images, as a sequence; a single path or image is refused with the remedy."""
    if isinstance(images, str | Path | Image.Image):
        raise DataError(
            "Give several images: a list of paths or images, or an array with a leading axis."
        )
    if isinstance(images, np.ndarray) and images.ndim == 1 and images.dtype.kind in "UO":
        return images.tolist()
    if isinstance(images, np.ndarray | torch.Tensor):
        if images.ndim < 3:
            raise DataError(
                f"An array of images is (n, H, W) or (n, H, W, C), but this one is {tuple(images.shape)}."
            )
        return images  # type: ignore[return-value]
    return list(images) if isinstance(images, Iterable) else [images]


def converted(images: Any, conversion: Conversion) -> Iterator[NDArray[np.uint8]]:
    """Each image as (H, W, C) uint8, like those that the model was trained on."""
    for position, image in enumerate(listed(images)):
        if isinstance(image, str | Path):
            yield read_image(Path(image), conversion)
        elif isinstance(image, Image.Image):
            yield convert(image, conversion)
        else:
            array = (
                image.detach().cpu().numpy()
                if isinstance(image, torch.Tensor)
                else np.asarray(image)
            )
            yield convert(_picture(array, position), conversion)


def network_images(images: Any, conversion: Conversion) -> list[torch.Tensor]:
    """Each image as a tensor (H, W, C) uint8; an array that has them so already is not taken through Pillow."""
    if (
        isinstance(images, np.ndarray | torch.Tensor)
        and tuple(images.shape[1:]) == conversion.shape
    ):
        whole = torch.as_tensor(images)
        if whole.dtype == torch.uint8:
            return list((255 - whole if conversion.inverted else whole.clone()).cpu())
    return [torch.tensor(array) for array in converted(images, conversion)]


def _picture(array: NDArray[Any], position: int) -> Image.Image:
    """An array (H, W) or (H, W, 1, 3 or 4), uint8 or float from 0 to 1, as a picture; torch's (C, H, W) too."""
    if array.ndim == 3 and array.shape[-1] not in (1, 3, 4) and array.shape[0] in (1, 3, 4):
        array = np.moveaxis(array, 0, -1)
    if array.ndim == 3 and array.shape[-1] == 1:
        array = array[..., 0]
    if (
        array.ndim not in (2, 3)
        or 0 in array.shape
        or (array.ndim == 3 and array.shape[-1] not in (3, 4))
    ):
        raise DataError(
            f"Image {position} has the shape {array.shape}; give (H, W), (H, W, 3) or (H, W, 4)."
        )
    if array.dtype == np.bool_:
        array = array.astype(np.uint8) * 255
    elif np.issubdtype(array.dtype, np.floating):
        if not np.isfinite(array).all() or array.min() < 0 or array.max() > 1:
            raise DataError(
                f"Image {position} has floating-point values outside 0 to 1. Scale them, or give uint8."
            )
        array = (array * 255).round().astype(np.uint8)
    elif not np.issubdtype(array.dtype, np.integer) or array.min() < 0 or array.max() > 255:
        raise DataError(
            f"Image {position} has values that are neither uint8 nor floats from 0 to 1 ({array.dtype})."
        )
    return Image.fromarray(np.ascontiguousarray(array.astype(np.uint8)))


@dataclass(frozen=True)
class Unreadable:
    """An image that was skipped, and why."""

    path: Path
    reason: str


Readable = tuple[list[Path], list[NDArray[np.uint8]], list[Unreadable]]


def readable(paths: Sequence[Path], conversion: Conversion) -> Readable:
    """The images that can be read, as paths and arrays, and those that cannot, with the reason."""
    good, arrays, bad = [], [], []
    for path in paths:
        try:
            arrays.append(read_image(path, conversion))
            good.append(path)
        except DataError as error:
            bad.append(Unreadable(path, str(error)))
    return good, arrays, bad
