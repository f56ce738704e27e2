"""CIFAR-FS and FC100, from the official CIFAR-100 archive in its binary version (the other one is a pickle)."""

from functools import partial
from pathlib import Path

import numpy as np

from samovar.data.archive import find, read_tar
from samovar.data.sources.base import Download, Source, missing
from samovar.data.splits import published
from samovar.data.store import ClassEntry, Contents
from samovar.errors import DataError
from samovar.settings.data import PrepareSettings

ARCHIVE = Download(
    "https://www.cs.toronto.edu/~kriz/cifar-100-binary.tar.gz", "03b5dce01913d631647c71ecec9e9cb8"
)
PARTS = ("train.bin", "test.bin", "fine_label_names.txt", "coarse_label_names.txt")
RECORD = 2 + 3 * 32 * 32
"""Bytes of a record: coarse label, fine label, the red, green and blue planes."""
HINT = f"Put {ARCHIVE.name} there, or its folder cifar-100-binary with {', '.join(PARTS)}."


def _read_parts(root: Path) -> tuple[dict[str, bytes], list[Path]]:
    if (archive := find(root, ARCHIVE.name)) is not None:
        parts, files = read_tar(archive, PARTS, largest=2 * 50_000 * RECORD), [archive]
    elif (folder := find(root, "cifar-100-binary")) is not None:
        files = [folder / part for part in PARTS if (folder / part).is_file()]
        parts = {path.name: path.read_bytes() for path in files}
    else:
        raise missing(root, HINT)
    if absent := [part for part in PARTS if part not in parts]:
        raise DataError(f"{files[0] if files else root} lacks {', '.join(absent)}. {HINT}")
    return parts, files


def _open(name: str, root: Path, settings: PrepareSettings) -> Contents:
    del settings  # nothing to choose
    parts, files = _read_parts(root)
    records = []
    for part in PARTS[:2]:
        if len(parts[part]) % RECORD or not parts[part]:
            raise DataError(
                f"{part} in {files[0]} is cut short: its size is no multiple of {RECORD} bytes. {HINT}"
            )
        records.append(np.frombuffer(parts[part], np.uint8).reshape(-1, RECORD))
    table = np.concatenate(records)
    fine, coarse = (parts[part].decode("ascii", "replace").split() for part in PARTS[2:])
    split = published(name)
    if (
        sorted(fine) != sorted(each for part in split.values() for each in part)
        or table[:, 0].max() >= len(coarse)
        or table[:, 1].max() >= len(fine)
    ):
        raise DataError(f"The class names in {files[0]} are not those of CIFAR-100. {HINT}")
    rows = [np.flatnonzero(table[:, 1] == label) for label in range(len(fine))]
    classes = [
        ClassEntry(class_name, len(members), coarse[table[members[0], 0]] if len(members) else None)
        for class_name, members in zip(fine, rows, strict=True)
    ]

    def read(position: int) -> np.ndarray:
        planes = table[rows[position], 2:].reshape(-1, 3, 32, 32)
        return planes.transpose(0, 2, 3, 1)

    return Contents(
        classes, (32, 32, 3), read, {"published": split}, files=files, official_images=60_000
    )


LICENCE = "research use; cite Krizhevsky 2009"
CIFAR_100 = "A. Krizhevsky. Learning multiple layers of features from tiny images. 2009."
CIFAR_FS = Source(
    "cifar_fs",
    "CIFAR-FS: 64 / 16 / 20 classes of CIFAR-100, split at random",
    LICENCE,
    f"{CIFAR_100} Split: L. Bertinetto et al. Meta-learning with differentiable closed-form solvers. ICLR 2019.",
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
