"""A user's own images: a folder of class folders.

The class folders may also be inside train/, val/ and test/. Links are followed only within the
folder, so that preparing a downloaded folder never reads other files of the user.
"""

from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from samovar.data.images.conversion import Conversion
from samovar.data.images.decode import EXTENSIONS, decode_all, read_file
from samovar.data.images.folder_walk import check_link, walk_images
from samovar.data.images.left_out import LeftOut
from samovar.data.sources.base import Source, missing
from samovar.data.splits import Split, by_file, by_fraction
from samovar.data.store import SPLITS, ClassEntry, Contents, fingerprint
from samovar.errors import DataError
from samovar.settings.data import PrepareSettings

HINT = (
    f"Give a folder with one folder per class and the images ({', '.join(EXTENSIONS)}) inside them."
)

ClassFolder = tuple[Path, list[Path]]
"""A class folder and its images."""


def class_folders(root: Path, within: Path | None = None) -> list[ClassFolder]:
    """Return the class folders and their images, in order.

    The images may be in folders inside a class folder. Links that lead out of the root (or of
    `within`) are refused.
    """
    home = within or root
    check_link(root, home)
    classes = []
    for folder in sorted(visible_folders(root)):
        # A link could show any file of the user to whoever sees the prepared images.
        found = walk_images(folder, home)
        if not found.paths:
            raise no_images(folder, found.left_out)
        if found.left_out.images:  # an image that cannot be read is an error here
            raise DataError(
                f"The class folder {folder} has images that cannot be read: {found.left_out}. "
                "Install what is missing, or save them as JPEG."
            )
        classes.append((folder, found.paths))
    return classes


def no_images(folder: Path, left_out: LeftOut) -> DataError:
    """Return the error about a class folder without images, which says what else it contains."""
    if left_out:
        return DataError(
            f"The class folder {folder} has no images that can be read, only {left_out}. "
            "Add some images, or remove it."
        )
    return DataError(f"The class folder {folder} has no images. Add some, or remove it.")


def is_presplit(root: Path) -> bool:
    """Tell whether the folder has only train/, val/ and test/, with folders inside train/.

    Otherwise these are classes like any other: a class may be called `train`.
    """
    # Hidden folders, such as .ipynb_checkpoints, do not count.
    names = {path.name for path in visible_folders(root)}
    if "train" not in names or not names <= set(SPLITS):
        return False
    return any(path.is_dir() for path in (root / "train").iterdir())


def visible_folders(root: Path) -> list[Path]:
    """Return the folders inside, except hidden ones and those that macOS adds to archives."""
    folders = []
    for path in root.iterdir():
        if path.is_dir() and not path.name.startswith((".", "__MACOSX")):
            folders.append(path)
    return folders


def _classes_and_split(root: Path) -> tuple[list[ClassFolder], Split | None]:
    """Return the class folders, and the split if the folder itself makes one."""
    if not is_presplit(root):
        return class_folders(root, root), None
    classes: list[ClassFolder] = []
    split: Split = {}
    for split_name in SPLITS:
        members: list[ClassFolder] = []
        if (root / split_name).is_dir():
            members = class_folders(root / split_name, root)
        classes += members
        split[split_name] = [folder.name for folder, _ in members]
    return classes, split


def image_files(root: Path) -> list[Path]:
    """Return all images of a folder, in the order in which a store of it has them."""
    paths: list[Path] = []
    for _, images in _classes_and_split(root)[0]:
        paths += images
    return paths


def _open(root: Path, settings: PrepareSettings) -> Contents:
    if not root.is_dir():
        raise missing(root, HINT)
    conversion = Conversion(settings.size, settings.colour, "bilinear", settings.inverted)
    classes, split = _classes_and_split(root)
    if not classes:
        raise missing(root, HINT)
    if split is None and settings.split_file is not None:
        split = by_file(settings.split_file)
    elif split is None:
        names = [folder.name for folder, _ in classes]
        split = by_fraction(names, settings.fractions, settings.seed)
    paths: list[Path] = []
    for _, images in classes:
        paths += images

    def read(position: int) -> NDArray[np.uint8]:
        _, images = classes[position]
        return decode_all(((str(path), read_file(path)) for path in images), conversion)

    # With other choices, other files or another folder the store is made again.
    chosen = {
        "size": settings.size,
        "colour": settings.colour,
        "inverted": settings.inverted,
        "root": str(root.resolve()),
    }
    return Contents(
        [ClassEntry(folder.name, len(images)) for folder, images in classes],
        conversion.shape,
        read,
        {"own": split},
        options=fingerprint(paths) | chosen,
    )


FOLDER = Source(
    "folder",
    "your own images: class/image",
    "yours",
    "",
    _open,
    HINT,
)
