"""What was found in a folder of images, written down for whoever encodes a part of it.

To search a folder of a hundred thousand images takes seconds. If each of a hundred parts did that,
it would take longer than the encoding. So whoever starts the parts searches once, and gives each of
them the list of its own images.
"""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from samovar.core.files import write_whole
from samovar.core.stored_json import read_json
from samovar.data.images.image_file import ImageFile
from samovar.encoders.image_sources import ListedImage
from samovar.errors import DataError, UnreadableError

LARGEST_LISTING = 2**30
"""Bytes of a listing: several million images."""


@dataclass(frozen=True)
class _Listing:
    """The content of the file: name, label, state and split of each image."""

    images: list[tuple[str, str, str, str]]


def write_listing(path: Path, images: Sequence[ListedImage]) -> None:
    """Write down images of a folder."""
    rows = [(image.name, image.label, image.state, image.split) for image in images]
    write_whole(path, json.dumps({"images": rows}).encode())


def read_listing(path: Path, root: Path) -> list[ListedImage]:
    """Return the images of a folder that were written down."""
    try:
        listing = read_json(path, _Listing, LARGEST_LISTING)
    except (OSError, UnreadableError) as error:
        raise DataError(f"The listing {path} cannot be read ({error}).") from error
    images = []
    for name, label, state, split in listing.images:
        images.append(ListedImage(name, label, ImageFile.at(root / name), state, split))
    return images
