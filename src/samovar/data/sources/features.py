"""Ready-made feature vectors with labels, from CLIP, DINOv2 or any other encoder."""

from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from samovar.data.sources.base import Source, missing
from samovar.data.splits import by_file, by_fraction
from samovar.data.store import ClassEntry, Contents
from samovar.errors import DataError
from samovar.settings.data import PrepareSettings

HINT = "Give an npz file with the arrays features (n, d) and labels (n), or a folder with features.npy and labels.npy."


def _load(root: Path) -> tuple[NDArray[Any], NDArray[Any], list[Path]]:
    names = ("features", "labels")
    try:
        if root.suffix == ".npz" and root.is_file():
            with root.open("rb") as file, np.load(file, allow_pickle=False) as arrays:
                return arrays[names[0]], arrays[names[1]], [root]
        files = [root / f"{name}.npy" for name in names]
        if all(path.is_file() for path in files):
            features, labels = (np.load(path, allow_pickle=False, mmap_mode="r") for path in files)
            return features, labels, files
    except Exception as error:  # a damaged file makes NumPy raise whatever its parsers stumble over
        raise DataError(f"{root} cannot be read ({error}). {HINT}") from error
    raise missing(root, HINT)


def _open(root: Path, settings: PrepareSettings) -> Contents:
    features, labels, files = _load(root)
    if features.ndim != 2 or labels.shape != (len(features),) or not len(features):
        raise DataError(f"{root} has features {features.shape} and labels {labels.shape}. {HINT}")
    if not np.issubdtype(features.dtype, np.floating) or labels.dtype.kind not in "iuU":
        raise DataError(
            f"{root} has features of type {features.dtype} and labels of type {labels.dtype}. {HINT}"
        )
    with np.errstate(over="ignore"):
        bad = np.flatnonzero(
            ~np.isfinite(features.astype(np.float32)).all(1)
        )  # as they will be stored
    if len(bad):
        raise DataError(
            f"{root} has {len(bad)} rows with values that are no finite float32, the first is row {bad[0]}."
        )
    values, inverse = np.unique(labels, return_inverse=True)
    names = [str(value) for value in values]
    rows = [np.flatnonzero(inverse == position) for position in range(len(names))]
    split = (
        by_file(settings.split_file)
        if settings.split_file
        else by_fraction(names, settings.fractions, settings.seed)
    )
    return Contents(
        [ClassEntry(name, len(members)) for name, members in zip(names, rows, strict=True)],
        features.shape[1:],
        lambda position: features[rows[position]],
        {"own": split},
        files=files,
        dtype="float32",
    )


FEATURES = Source(
    "features",
    "ready-made feature vectors with labels",
    "yours",
    "your own",
    _open,
    HINT,
)
