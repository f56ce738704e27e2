"""Labels of any type, as the user gave them: as arrays, and in order."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray


def label_array(y: ArrayLike) -> NDArray[Any]:
    """Return one label for each image as an array of their type; objects stay objects.

    >>> label_array(["cat", 3])
    array(['cat', 3], dtype=object)
    """
    if isinstance(y, list | tuple):
        array = listed_labels(y)
    else:
        # scikit-learn takes a second to import, which the command line, with its lists, is spared.
        from sklearn.utils.validation import column_or_1d

        array = column_or_1d(y, warn=True)
    _check_present(array)
    if array.dtype.kind == "f" and not np.isfinite(array).all():
        raise ValueError("Input y contains NaN or infinity.")
    if array.dtype.kind == "f" and (array != np.round(array)).any():
        raise ValueError("Unknown label type: continuous. Labels are names or whole numbers.")
    return array


def _check_present(labels: NDArray[Any]) -> None:
    """Refuse labels that are missing: None, or the NaN that pandas puts in its place."""
    if labels.dtype != object:
        return
    for position, label in enumerate(labels.tolist()):
        is_nan = isinstance(label, float) and label != label
        if label is None or is_nan:
            raise ValueError(
                f"Label {position} is {label!r}. Input y contains NaN or None: give every image a "
                "label, or leave it out."
            )


def listed_labels(labels: Sequence[Any]) -> NDArray[Any]:
    """Return labels as an array: of their type if they share a plain one, else of objects."""
    types = {type(label) for label in labels}
    if len(types) == 1 and issubclass(types.pop(), str | int | float | bool | np.generic):
        return np.array(labels)
    # np.array would make a matrix of tuples, and text of numbers that are mixed with text.
    array = np.empty(len(labels), dtype=object)
    for position, label in enumerate(labels):
        array[position] = label
    return array


def sorted_labels(labels: Sequence[Any]) -> list[Any]:
    """Return each label once, in order; labels that cannot be compared are sorted by type and text.

    >>> sorted_labels(["b", "a", "b"])
    ['a', 'b']
    """
    unique = list(dict.fromkeys(labels))
    try:
        return sorted(unique)
    except TypeError:
        return sorted(unique, key=lambda label: (type(label).__name__, str(label)))
