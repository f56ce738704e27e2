"""Labels of any type, as they were given: arrays of their kind, in an order."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils.validation import column_or_1d


def label_array(y: ArrayLike) -> NDArray[Any]:
    """One label for each image, as an array of their kind; objects stay objects."""
    array = column_or_1d(y, warn=True) if not isinstance(y, list | tuple) else listed_labels(y)
    if array.dtype.kind == "f" and not np.isfinite(array).all():
        raise ValueError("Input y contains NaN or infinity.")
    if array.dtype.kind == "f" and (array != np.round(array)).any():
        raise ValueError("Unknown label type: continuous. Labels are names or whole numbers.")
    return array


def listed_labels(y: Sequence[Any]) -> NDArray[Any]:
    """A list of labels as an array: of their kind if they have one in common, else of objects."""
    kinds = {type(label) for label in y}
    if len(kinds) == 1 and issubclass(kinds.pop(), str | int | float | bool | np.generic):
        return np.array(y)
    array = np.empty(
        len(y), dtype=object
    )  # numpy would make a matrix of tuples, and text of mixed kinds
    for position, label in enumerate(y):
        array[position] = label
    return array


def alike(labels: NDArray[Any], others: NDArray[Any]) -> NDArray[Any]:
    """The labels as they are, or as objects if the others are of another kind (numpy would turn numbers into text)."""
    return labels if labels.dtype.kind == others.dtype.kind else labels.astype(object)


def sorted_labels(labels: Sequence[Any]) -> list[Any]:
    """Each label once, in order; labels that cannot be ordered among themselves go by type and text."""
    unique = list(dict.fromkeys(labels))
    try:
        return sorted(unique)
    except TypeError:
        return sorted(unique, key=lambda label: (type(label).__name__, str(label)))
