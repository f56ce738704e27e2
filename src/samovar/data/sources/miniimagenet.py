"""miniImageNet with Ravi and Larochelle's split.

It comes in two layouts: all images together (images.zip or images/) with three csv files that name
the class of each, or one folder per class. Both become the same list: for each class, its images
and how to read them.
"""

import csv
import io
from collections import defaultdict
from collections.abc import Callable
from functools import partial
from pathlib import Path, PurePosixPath
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from samovar.core.input_files import read_input
from samovar.data.archive import Zip, find
from samovar.data.images.conversion import Conversion
from samovar.data.images.decode import EXTENSIONS, decode_all, read_file
from samovar.data.sources.base import Source, missing
from samovar.data.splits import class_names, published, restricted
from samovar.data.store import SPLITS, ClassEntry, Contents, fingerprint
from samovar.errors import DataError
from samovar.settings.data import PrepareSettings

HINT = (
    "It cannot be downloaded freely (ImageNet's terms). Put images.zip or the folder images there "
    "with Ravi's train.csv, val.csv and test.csv, or one folder per class, named by its WordNet id "
    "(n01532829)."
)
LARGEST_LIST = 64 * 2**20
"""Bytes of a csv file; Ravi's have two million."""
CONVERSION = Conversion(84, "rgb", "bilinear")
Reader = Callable[[], bytes]
"""Reads one image file."""


class Images(NamedTuple):
    """How to read each image by its file name, and where the images are."""

    readers: dict[str, Reader]
    archives: list[Path]
    loose: list[Path]


class ClassImages(NamedTuple):
    """The images of each class, and what they are read from."""

    members: dict[str, list[tuple[str, Reader]]]
    """Name and reader of each image, by class."""
    files: list[Path]
    """Archives and csv files, whose checksums are recorded."""
    loose: list[Path]
    """Single image files, whose sizes and times are recorded."""


def _images(root: Path) -> Images:
    archive = find(root, "images.zip")
    if archive is not None:
        opened = Zip(archive)
        readers: dict[str, Reader] = {}
        for entry in opened.entries:
            readers[PurePosixPath(entry).name] = partial(opened.read, entry)
        return Images(readers, [archive], [])
    folder = find(root, "images")
    if folder is not None and folder.is_dir():
        loose = _image_files(folder)
        return Images({path.name: partial(read_file, path) for path in loose}, [], loose)
    raise missing(root, HINT)


def _image_files(folder: Path) -> list[Path]:
    return [path for path in sorted(folder.iterdir()) if path.suffix.lower() in EXTENSIONS]


def _from_csv(root: Path) -> ClassImages:
    images = _images(root)
    members: dict[str, list[tuple[str, Reader]]] = defaultdict(list)
    files = list(images.archives)
    split_of: dict[str, str] = {}
    for split_name in SPLITS:
        path = find(root, f"{split_name}.csv")
        if path is None:
            raise missing(root, f"{split_name}.csv is not there. {HINT}")
        files.append(path)
        for name, label in _rows(path):
            if name not in images.readers:
                raise DataError(
                    f"{path} names {name}, which is not among the images at {root}. {HINT}"
                )
            # A class in two lists would be seen in training and in the test.
            if split_of.setdefault(label, split_name) != split_name:
                raise DataError(
                    f"{path} has class {label}, which is also in {split_of[label]}.csv. {HINT}"
                )
            members[label].append((name, images.readers[name]))
    return ClassImages(members, files, images.loose)


def _rows(path: Path) -> list[tuple[str, str]]:
    """Return the file name and the label of every row."""
    rows = []
    text = read_input(path, LARGEST_LIST).decode("utf-8", "replace")
    try:
        for row in csv.DictReader(io.StringIO(text, newline="")):
            rows.append((row.get("filename"), row.get("label")))
    except csv.Error as error:
        raise DataError(f"{path} cannot be read ({error}). {HINT}") from error
    complete = [(name, label) for name, label in rows if name and label]
    if len(complete) < len(rows):
        raise DataError(f"{path} must have the columns filename and label in every row. {HINT}")
    return complete


def _from_folders(root: Path, classes: set[str]) -> ClassImages:
    folders = {}
    # Class folders at the root, or inside train/, val/ and test/; the split is Ravi's anyway.
    for pattern in ("*", "*/*"):
        for path in root.glob(pattern):
            if path.name in classes:
                folders[path.name] = path
    members: dict[str, list[tuple[str, Reader]]] = {}
    loose: list[Path] = []
    for name, folder in sorted(folders.items()):
        paths = _image_files(folder)
        members[name] = [(str(path), partial(read_file, path)) for path in paths]
        loose += paths
    return ClassImages(members, [], loose)


def _open(root: Path, settings: PrepareSettings) -> Contents:
    del settings  # nothing to choose
    split = published("miniimagenet")
    known = class_names(split)
    if find(root, "train.csv"):
        members, files, loose = _from_csv(root)
    else:
        members, files, loose = _from_folders(root, known)
    if not members:
        raise missing(root, HINT)
    unknown = sorted(members.keys() - known)
    if unknown:
        raise DataError(
            f"{root} has class {unknown[0]!r}, which is not one of miniImageNet's. {HINT}"
        )
    options: dict[str, str] = {}
    if loose:
        options = fingerprint(loose) | {"root": str(root.resolve())}
    names = sorted(members)

    def read(position: int) -> NDArray[np.uint8]:
        files = ((name, reader()) for name, reader in members[names[position]])
        return decode_all(files, CONVERSION)

    return Contents(
        [ClassEntry(name, len(members[name])) for name in names],
        CONVERSION.shape,
        read,
        {"ravi": restricted(split, set(names))},
        options=options,
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
    inverted=CONVERSION.inverted,
    resampling=CONVERSION.resampling,
)
