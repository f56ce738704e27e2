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

HINT = (
    "Give an npz file with the arrays features (n, d) and labels (n), "
    "or a folder with features.npy and labels.npy."
)

Arrays = tuple[NDArray[Any], NDArray[Any], list[Path]]
"""Features, labels, and the files that they come from."""


def _load(root: Path) -> Arrays:
    try:
        if root.suffix == ".npz" and root.is_file():
            with root.open("rb") as file, np.load(file, allow_pickle=False) as arrays:
                return arrays["features"], arrays["labels"], [root]
        paths = [root / "features.npy", root / "labels.npy"]
        if paths[0].is_file() and paths[1].is_file():
            features = np.load(paths[0], allow_pickle=False, mmap_mode="r")
            labels = np.load(paths[1], allow_pickle=False, mmap_mode="r")
            return features, labels, paths
    except Exception as error:  # NumPy's parsers raise many kinds of errors on damaged files
        raise DataError(f"{root} cannot be read ({error}). {HINT}") from error
    raise missing(root, HINT)


def _check(root: Path, features: NDArray[Any], labels: NDArray[Any]) -> None:
    if features.ndim != 2 or labels.shape != (len(features),) or not len(features):
        raise DataError(f"{root} has features {features.shape} and labels {labels.shape}. {HINT}")
    if not np.issubdtype(features.dtype, np.floating) or labels.dtype.kind not in "iuU":
        raise DataError(
            f"{root} has features of type {features.dtype} and labels of type {labels.dtype}. "
            f"{HINT}"
        )
    # Checked as float32, the type in which they will be stored.
    with np.errstate(over="ignore"):
        finite = np.isfinite(features.astype(np.float32))
    bad = np.flatnonzero(~finite.all(1))
    if len(bad):
        raise DataError(
            f"{root} has {len(bad)} rows with values that are not finite float32 numbers; the "
            f"first is row {bad[0]}. Remove these rows, or compute them again."
        )


def _open(root: Path, settings: PrepareSettings) -> Contents:
    features, labels, paths = _load(root)
    _check(root, features, labels)
    values, class_of_row = np.unique(labels, return_inverse=True)
    names = [str(value) for value in values]
    classes = []
    rows = []
    for position, name in enumerate(names):
        members = np.flatnonzero(class_of_row == position)
        classes.append(ClassEntry(name, len(members)))
        rows.append(members)
    if settings.split_file:
        split = by_file(settings.split_file)
    else:
        split = by_fraction(names, settings.fractions, settings.seed)
    return Contents(
        classes,
        features.shape[1:],
        lambda position: features[rows[position]],
        {"own": split},
        files=paths,
        dtype="float32",
    )


FEATURES = Source(
    "features",
    "ready-made feature vectors with labels",
    "yours",
    "",
    _open,
    HINT,
)
