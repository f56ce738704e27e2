"""Ready-made feature vectors with labels, from CLIP, DINOv2 or any other encoder.

An npz file of `samovar embed` also says which encoder made the vectors, and perhaps which classes
are for train, val and test. Files from elsewhere need have neither.
"""

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from samovar.data.npz import is_text, read_npz
from samovar.data.sources.base import Source, missing
from samovar.data.splits import Split, by_file, by_fraction
from samovar.data.store import SPLITS, ClassEntry, Contents
from samovar.errors import DataError
from samovar.settings.data import PrepareSettings

HINT = (
    "Give an npz file with the arrays features (n, d) and labels (n), "
    "or a folder with features.npy and labels.npy."
)
CHECKED_AT_ONCE = 2**22
"""Numbers that are checked together."""
ENCODER_KEYS = ("name", "identity", "length", "preprocessing", "path")
"""What is kept of the encoder. A file also lists skipped images, which say nothing of it."""


@dataclass(frozen=True)
class _Arrays:
    """Features, labels, and the files that they come from."""

    features: NDArray[Any]
    labels: NDArray[Any]
    files: list[Path]
    split: NDArray[Any] | None = None
    """For each row train, val or test."""
    encoder: str | None = None
    """JSON that names the encoder."""


def _load(root: Path) -> _Arrays:
    try:
        if root.suffix == ".npz" and root.is_file():
            arrays = read_npz(root, ("features", "labels", "split", "encoder"))
            return _Arrays(
                arrays["features"],
                arrays["labels"],
                [root],
                arrays.get("split"),
                _text(arrays.get("encoder")),
            )
        paths = [root / "features.npy", root / "labels.npy"]
        if paths[0].is_file() and paths[1].is_file():
            features = np.load(paths[0], allow_pickle=False, mmap_mode="r")
            labels = np.load(paths[1], allow_pickle=False, mmap_mode="r")
            return _Arrays(features, labels, paths)
    except DataError as error:  # a whole sentence already
        raise DataError(f"{root} cannot be read. {error} {HINT}") from error
    except KeyError as error:
        raise DataError(f"{root} cannot be read: it has no array {error}. {HINT}") from error
    except Exception as error:  # NumPy's parsers raise many kinds of errors on damaged files
        raise DataError(f"{root} cannot be read ({error}). {HINT}") from error
    raise missing(root, HINT)


def _text(array: NDArray[Any] | None) -> str | None:
    if array is None or array.ndim != 0 or array.dtype.kind != "U":
        return None
    return str(array)


def _check(root: Path, features: NDArray[Any], labels: NDArray[Any]) -> None:
    if features.ndim != 2 or labels.shape != (len(features),) or not features.size:
        raise DataError(f"{root} has features {features.shape} and labels {labels.shape}. {HINT}")
    if not np.issubdtype(features.dtype, np.floating) or labels.dtype.kind not in "iuU":
        raise DataError(
            f"{root} has features of type {features.dtype} and labels of type {labels.dtype}. "
            f"{HINT}"
        )
    if not is_text(labels):
        raise DataError(f"{root} has labels that are not text. {HINT}")
    if labels.dtype.kind == "U" and not labels.all():
        row = int(np.flatnonzero(labels == "")[0])
        raise DataError(f"{root} has rows without a class name; the first is row {row}. {HINT}")
    bad = _bad_rows(features)
    if bad:
        raise DataError(
            f"{root} has {len(bad)} rows with values that are not finite float32 numbers; the "
            f"first is row {bad[0]}. Remove these rows, or compute them again."
        )


def _bad_rows(features: NDArray[Any]) -> list[int]:
    """Return the rows with numbers that are not finite as float32, in which they are stored."""
    bad: list[int] = []
    rows = max(1, CHECKED_AT_ONCE // features.shape[1])
    for start in range(0, len(features), rows):
        with np.errstate(over="ignore"):
            finite = np.isfinite(features[start : start + rows].astype(np.float32))
        bad += (start + np.flatnonzero(~finite.all(1))).tolist()
    return bad


def _encoder(root: Path, arrays: _Arrays) -> dict[str, Any] | None:
    """Return what the file says of its encoder; None if it says nothing that we understand."""
    try:
        stored = json.loads(arrays.encoder or "null")
    except (ValueError, RecursionError):
        return None
    # Others may call an array of their own `encoder`.
    if not isinstance(stored, dict) or not stored.keys() >= {"name", "identity", "length"}:
        return None
    length = arrays.features.shape[1]
    if stored["length"] != length:
        raise DataError(
            f"{root} has vectors of {length} numbers, but its encoder {stored['name']} makes "
            f"vectors of {stored['length']}. If you have changed the vectors, save them without "
            "the array `encoder`."
        )
    return {key: stored[key] for key in ENCODER_KEYS if key in stored}


def _given_split(root: Path, split: NDArray[Any], labels: NDArray[Any]) -> Split:
    """Return the split that the file has, in which every class belongs to one part."""
    if split.shape != labels.shape or split.dtype.kind != "U" or not np.isin(split, SPLITS).all():
        raise DataError(
            f"The array `split` of {root} must have train, val or test for each row. Correct it, "
            "or save the file without it."
        )
    classes: Split = {}
    for name in SPLITS:
        members = np.unique(labels[split == name])
        classes[name] = [str(member) for member in members]
    return classes


def rows_by_class(class_of_row: NDArray[np.int64], classes: int) -> list[NDArray[np.int64]]:
    """Return the rows of each class in order, by sorting once: there may be many classes.

    >>> [rows.tolist() for rows in rows_by_class(np.array([1, 0, 1]), 2)]
    [[1], [0, 2]]
    """
    order = np.argsort(class_of_row, kind="stable")
    ends = np.cumsum(np.bincount(class_of_row, minlength=classes))
    return np.split(order, ends[:-1])


def _open(root: Path, settings: PrepareSettings) -> Contents:
    arrays = _load(root)
    features = arrays.features
    _check(root, features, arrays.labels)
    values, class_of_row = np.unique(arrays.labels, return_inverse=True)
    names = [str(value) for value in values]
    rows = rows_by_class(class_of_row, len(names))
    classes = [ClassEntry(name, len(members)) for name, members in zip(names, rows, strict=True)]
    if settings.split_file:
        split = by_file(settings.split_file)
    elif arrays.split is not None:
        split = _given_split(root, arrays.split, arrays.labels)
    else:
        split = by_fraction(names, settings.fractions, settings.seed)
    return Contents(
        classes,
        features.shape[1:],
        lambda position: features[rows[position]],
        {"own": split},
        files=arrays.files,
        dtype="float32",
        encoder=_encoder(root, arrays),
    )


FEATURES = Source(
    "features",
    "ready-made feature vectors with labels",
    "yours",
    "",
    _open,
    HINT,
)
