"""CIFAR-FS and FC100, from the official archive of CIFAR-100.

It is the binary version of the archive, since the other one is a pickle.
"""

from functools import partial
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from samovar.core.input_files import read_input
from samovar.data.archive import find
from samovar.data.sources.base import Download, Source, missing
from samovar.data.splits import Split, class_names, published
from samovar.data.store import ClassEntry, Contents
from samovar.data.tar_reader import read_tar
from samovar.errors import DataError
from samovar.settings.data import PrepareSettings

ARCHIVE = Download(
    "https://www.cs.toronto.edu/~kriz/cifar-100-binary.tar.gz", "03b5dce01913d631647c71ecec9e9cb8"
)
IMAGES = ("train.bin", "test.bin")
FINE_NAMES = "fine_label_names.txt"
COARSE_NAMES = "coarse_label_names.txt"
FILES = (*IMAGES, FINE_NAMES, COARSE_NAMES)
RECORD = 2 + 3 * 32 * 32
"""Bytes of a record: coarse label, fine label, the red, green and blue planes."""
LARGEST = 2 * 50_000 * RECORD
"""Bytes of a file, or of all files of the archive, that are read at most: twice train.bin."""
HINT = f"Put {ARCHIVE.name} there, or its folder cifar-100-binary with {', '.join(FILES)}."


class Cifar100(NamedTuple):
    """The content of CIFAR-100."""

    records: NDArray[np.uint8]
    """(n, RECORD)"""
    fine: list[str]
    """Names of the classes."""
    coarse: list[str]
    """Names of the superclasses."""


def _read_files(root: Path) -> tuple[dict[str, bytes], list[Path]]:
    """Return the bytes of FILES, and the paths that they were read from."""
    archive = find(root, ARCHIVE.name)
    folder = find(root, "cifar-100-binary")
    if archive is not None:
        contents = read_tar(archive, FILES, LARGEST)
        paths = [archive]
    elif folder is not None:
        paths = [folder / name for name in FILES if (folder / name).is_file()]
        contents = {path.name: read_input(path, LARGEST) for path in paths}
    else:
        raise missing(root, HINT)
    absent = [name for name in FILES if name not in contents]
    if absent:
        place = paths[0] if paths else root
        raise DataError(f"{place} does not have {', '.join(absent)}. {HINT}")
    return contents, paths


def _parse(contents: dict[str, bytes], split: Split, place: Path) -> Cifar100:
    """Return records and names, refused unless the classes are those of the split."""
    tables = []
    for name in IMAGES:
        content = contents[name]
        if not content or len(content) % RECORD:
            raise DataError(
                f"{name} in {place} is cut short: its size is not a multiple of {RECORD} bytes. "
                f"{HINT}"
            )
        tables.append(np.frombuffer(content, np.uint8).reshape(-1, RECORD))
    records = np.concatenate(tables)
    fine = contents[FINE_NAMES].decode("ascii", "replace").split()
    coarse = contents[COARSE_NAMES].decode("ascii", "replace").split()
    # Names decide whether this is CIFAR-100; the number of images may be smaller.
    known = sorted(fine) == sorted(class_names(split))
    labels_named = records[:, 0].max() < len(coarse) and records[:, 1].max() < len(fine)
    if not known or not labels_named:
        raise DataError(f"The class names in {place} are not those of CIFAR-100. {HINT}")
    return Cifar100(records, fine, coarse)


def _open(name: str, root: Path, settings: PrepareSettings) -> Contents:
    del settings  # nothing to choose
    contents, paths = _read_files(root)
    split = published(name)
    records, fine, coarse = _parse(contents, split, paths[0])
    classes = []
    rows = []
    for label, class_name in enumerate(fine):
        members = np.flatnonzero(records[:, 1] == label)
        # All images of a class have the same superclass.
        group = coarse[records[members[0], 0]] if len(members) else None
        classes.append(ClassEntry(class_name, len(members), group))
        rows.append(members)

    def read(position: int) -> NDArray[np.uint8]:
        planes = records[rows[position], 2:].reshape(-1, 3, 32, 32)
        return planes.transpose(0, 2, 3, 1)

    return Contents(
        classes, (32, 32, 3), read, {"published": split}, files=paths, official_images=60_000
    )


LICENCE = "research use; cite Krizhevsky 2009"
CIFAR_100 = "A. Krizhevsky. Learning multiple layers of features from tiny images. 2009."
CIFAR_FS = Source(
    "cifar_fs",
    "CIFAR-FS: 64 / 16 / 20 classes of CIFAR-100, split at random",
    LICENCE,
    f"{CIFAR_100} Split: L. Bertinetto et al. Meta-learning with differentiable closed-form "
    "solvers. ICLR 2019.",
    partial(_open, "cifar_fs"),
    HINT,
    (ARCHIVE,),
)
FC100 = Source(
    "fc100",
    "FC100: 60 / 20 / 20 classes of CIFAR-100, split by superclass",
    LICENCE,
    f"{CIFAR_100} Split: B. Oreshkin et al. TADAM. NeurIPS 2018.",
    partial(_open, "fc100"),
    HINT,
    (ARCHIVE,),
)
