"""A user's own images: a folder of class folders, or train/, val/ and test/ with class folders inside."""

from pathlib import Path

import numpy as np

from samovar.data.images.conversion import Conversion
from samovar.data.images.decode import EXTENSIONS, decode_all, read_file
from samovar.data.sources.base import Source, missing
from samovar.data.splits import Split, by_file, by_fraction
from samovar.data.store import SPLITS, ClassEntry, Contents, fingerprint
from samovar.errors import DataError
from samovar.settings.data import PrepareSettings

HINT = (
    f"Give a folder with one folder per class and the images ({', '.join(EXTENSIONS)}) inside them."
)


def class_folders(root: Path, within: Path | None = None) -> list[tuple[Path, list[Path]]]:
    """The class folders and their images, in order; links that lead out of the root (or `within`) are refused."""
    found, home = [], (within or root).resolve()
    if not root.resolve().is_relative_to(home):
        raise DataError(f"{root} is a link to a place outside {within}. Replace it by a copy.")
    for folder in sorted(
        path for path in root.iterdir() if path.is_dir() and not path.name.startswith(".")
    ):
        images = sorted(
            path
            for path in folder.iterdir()
            if path.suffix.lower() in EXTENSIONS and path.is_file()
        )
        for path in (folder, *images):
            if path.is_symlink() and not path.resolve().is_relative_to(home):
                raise DataError(
                    f"{path} is a link to a place outside {within or root}. Replace it by a copy."
                )
        if not images:
            raise DataError(f"The class folder {folder} has no images. Add some, or remove it.")
        found.append((folder, images))
    return found


def is_presplit(root: Path) -> bool:
    """Only train/, val/ and test/, with folders inside train/? Otherwise these are classes like any other."""
    folders = {
        path.name for path in root.iterdir() if path.is_dir() and not path.name.startswith(".")
    }
    return "train" in folders <= set(SPLITS) and any(
        path.is_dir() for path in (root / "train").iterdir()
    )


def _open(root: Path, settings: PrepareSettings) -> Contents:
    if not root.is_dir():
        raise missing(root, HINT)
    conversion = Conversion(settings.size, settings.colour, "bilinear", settings.inverted)
    presplit = is_presplit(root)
    parts = [root / part for part in SPLITS if (root / part).is_dir()] if presplit else [root]
    found = {part: class_folders(part, root) for part in parts}
    members = [each for folders in found.values() for each in folders]
    if not members:
        raise missing(root, HINT)
    names = [folder.name for folder, _ in members]
    split: Split
    if presplit:
        split = {part: [folder.name for folder, _ in found.get(root / part, [])] for part in SPLITS}
    elif settings.split_file is not None:
        split = by_file(settings.split_file)
    else:
        split = by_fraction(names, settings.fractions, settings.seed)

    def read(position: int) -> np.ndarray:
        return decode_all(
            ((str(path), read_file(path)) for path in members[position][1]), conversion
        )

    return Contents(
        [ClassEntry(folder.name, len(images)) for folder, images in members],
        conversion.shape,
        read,
        {"own": split},
        options=fingerprint(path for _, images in members for path in images)
        | {
            "size": settings.size,
            "colour": settings.colour,
            "inverted": settings.inverted,
            "root": str(root.resolve()),
        },
    )


FOLDER = Source(
    "folder",
    "your own images: class/image",
    "yours",
    "yours",
    _open,
    HINT,
)
