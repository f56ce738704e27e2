"""miniImageNet with Ravi and Larochelle's split: the images with the three csv files, or class folders."""

import csv
from collections import defaultdict
from collections.abc import Callable
from functools import partial
from pathlib import Path, PurePosixPath
from typing import NamedTuple

import numpy as np

from samovar.data.archive import Zip, find
from samovar.data.images.conversion import Conversion
from samovar.data.images.decode import EXTENSIONS, decode_all, read_file
from samovar.data.sources.base import Source, missing
from samovar.data.splits import published
from samovar.data.store import SPLITS, ClassEntry, Contents, fingerprint
from samovar.errors import DataError
from samovar.settings.data import PrepareSettings

HINT = (
    "It cannot be downloaded freely (ImageNet's terms). Put images.zip or the folder images there with Ravi's "
    "train.csv, val.csv and test.csv, or one folder per class, named by its WordNet id (n01532829)."
)
CONVERSION = Conversion(84, "rgb", "bilinear")
Reader = Callable[[], bytes]
"""Reads one image file."""


class Found(NamedTuple):
    """The images of each class, and what they are read from."""

    members: dict[str, list[tuple[str, Reader]]]
    files: list[Path]
    """Archives and lists, whose checksums are kept."""
    loose: list[Path]
    """Single images, whose sizes and times are kept."""


def _images(root: Path) -> tuple[dict[str, Reader], list[Path], list[Path]]:
    """How to read each image, by file name; the archive, or the loose files."""
    if (archive := find(root, "images.zip")) is not None:
        opened = Zip(archive)
        return (
            {PurePosixPath(name).name: partial(opened.read, name) for name in opened.entries},
            [archive],
            [],
        )
    if (folder := find(root, "images")) is not None and folder.is_dir():
        loose = [path for path in sorted(folder.iterdir()) if path.suffix.lower() in EXTENSIONS]
        return {path.name: partial(read_file, path) for path in loose}, [], loose
    raise missing(root, HINT)


def _from_csv(root: Path) -> Found:
    images, files, loose = _images(root)
    members: dict[str, list[tuple[str, Reader]]] = defaultdict(list)
    part_of: dict[str, str] = {}
    for part in SPLITS:
        if (path := find(root, f"{part}.csv")) is None:
            raise missing(root, f"{part}.csv is not there. {HINT}")
        files.append(path)
        for name, label in _rows(path):
            if not name or not label:
                raise DataError(
                    f"{path} must have the columns filename and label in every row. {HINT}"
                )
            if name not in images:
                raise DataError(
                    f"{path} names {name}, which is not among the images at {root}. {HINT}"
                )
            if part_of.setdefault(label, part) != part:
                raise DataError(
                    f"{path} has class {label}, which is also in {part_of[label]}.csv. {HINT}"
                )
            members[label].append((name, images[name]))
    return Found(members, files, loose)


def _rows(path: Path) -> list[tuple[str | None, str | None]]:
    """The file name and the label of every row."""
    try:
        with path.open(newline="", encoding="utf-8", errors="replace") as file:
            return [(row.get("filename"), row.get("label")) for row in csv.DictReader(file)]
    except (OSError, csv.Error) as error:
        raise DataError(f"{path} cannot be read ({error}). {HINT}") from error


def _from_folders(root: Path, classes: set[str]) -> Found:
    folders = {
        path.name: path
        for pattern in ("*", "*/*")
        for path in root.glob(pattern)
        if path.name in classes
    }
    paths = {
        name: [path for path in sorted(folder.iterdir()) if path.suffix.lower() in EXTENSIONS]
        for name, folder in sorted(folders.items())
    }
    members: dict[str, list[tuple[str, Reader]]] = {
        name: [(str(path), partial(read_file, path)) for path in images]
        for name, images in paths.items()
    }
    return Found(members, [], [path for images in paths.values() for path in images])


def _open(root: Path, settings: PrepareSettings) -> Contents:
    del settings  # nothing to choose
    split = published("miniimagenet")
    listed = {each for part in split.values() for each in part}
    members, files, loose = (
        _from_csv(root) if find(root, "train.csv") else _from_folders(root, listed)
    )
    if not members:
        raise missing(root, HINT)
    if unknown := set(members) - listed:
        raise DataError(
            f"{root} has class {sorted(unknown)[0]!r}, which is not one of miniImageNet's. {HINT}"
        )
    names = sorted(members)

    def read(position: int) -> np.ndarray:
        return decode_all(
            ((name, reader()) for name, reader in members[names[position]]), CONVERSION
        )

    return Contents(
        [ClassEntry(name, len(members[name])) for name in names],
        CONVERSION.shape,
        read,
        {
            "ravi": {
                part: [each for each in listed_names if each in members]
                for part, listed_names in split.items()
            }
        },
        options=fingerprint(loose) | {"root": str(root.resolve())} if loose else {},
        files=files,
        official_images=60_000,
    )


MINIIMAGENET = Source(
    "miniimagenet",
    "miniImageNet: 64 / 16 / 20 classes of ImageNet, 600 images each, 84 x 84",
    "ImageNet terms, research use",
    "O. Vinyals et al. Matching networks for one shot learning. NeurIPS 2016. "
    "Split: S. Ravi, H. Larochelle. Optimization as a model for few-shot learning. ICLR 2017.",
    _open,
    HINT,
)
