"""The images of a support that are used: all that are given, but no copies from class folders."""

import warnings
from typing import Any, NamedTuple

from torch import Tensor

from samovar.classifier.copies import copy_notes, find_copies
from samovar.classifier.labelled_images import LabelledImages
from samovar.classifier.support_names import SupportNames


class UsedImages(NamedTuple):
    """Images as the model takes them, with their labels and, where they are files, their names."""

    inputs: list[Tensor]
    labels: list[Any]
    names: SupportNames | None


def used_images(
    support: LabelledImages, inputs: list[Tensor], earlier: SupportNames | None = None
) -> UsedImages:
    """Return the images without copies, and warn of copies and contradictions.

    Only in class folders, as `samovar fit` does: who gives images and labels gets what was given,
    as with any estimator of scikit-learn. `earlier` are the images that the task has already.
    """
    labels = support.labels.tolist()
    names = support.names()
    if names is None or not support.from_folders:
        return UsedImages(inputs, labels, names)
    copies = find_copies(names, earlier)
    for note in copy_notes(copies):
        warnings.warn(note, UserWarning, stacklevel=4)  # shown at the user's call of fit
    kept = copies.kept
    return UsedImages(
        [inputs[position] for position in kept],
        [labels[position] for position in kept],
        names.at(kept),
    )
