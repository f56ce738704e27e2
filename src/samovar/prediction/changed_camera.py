"""Whether new images come from another camera or place than the labelled ones: a two-sample test.

Which classes the new images have must not matter, so images are compared within classes: each image
has the class that the classifier gives it, a labelled one without itself. The statistic is the
length of the mean difference, over classes, between new and labelled features: a camera shifts all
classes alike. Its distribution if nothing has changed comes from exchanging new and labelled images
within each class.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from samovar.core.randomness import generator

PERMUTATIONS = 999
SURE = 0.01
"""A smaller probability of chance says that the camera has changed."""


@dataclass(frozen=True)
class CameraChange:
    """What the test says."""

    probability_of_chance: float
    """How often a difference as large as this comes about by chance (the p-value)."""
    shift: float
    """The length of the mean difference, relative to that of chance."""

    @property
    def changed(self) -> bool:
        """Whether the new images are too different for chance."""
        return self.probability_of_chance < SURE


def changed_camera(
    features: NDArray[np.float64], classes: NDArray[np.int64], new: NDArray[np.bool_], seed: int = 0
) -> CameraChange | None:
    """Compare new images with labelled ones; None if no class has images of both.

    Args:
        features: Of all images, (n, d).
        classes: Their classes, as the classifier says, (n,).
        new: Whether each is a new image, (n,).
        seed: Of the permutations.
    """
    strata = []
    for number in np.unique(classes):
        members = np.flatnonzero(classes == number)
        if 0 < new[members].sum() < len(members):
            strata.append(members)
    if not strata:
        return None
    noise = generator(seed, "changed camera")
    weights = np.zeros((PERMUTATIONS + 1, len(features)))
    for members in strata:
        weights[:, members] = _contrasts(new[members], noise)
    lengths = np.linalg.norm(weights @ features, axis=1)
    as_large = int((lengths[1:] >= lengths[0]).sum())
    probability = (as_large + 1) / (PERMUTATIONS + 1)
    chance = float(lengths[1:].mean())
    return CameraChange(probability, float(lengths[0]) / max(chance, 1e-12))


def _contrasts(new: NDArray[np.bool_], noise: np.random.Generator) -> NDArray[np.float64]:
    """Return the weights of a class's images in the difference, (1 + PERMUTATIONS, n).

    The first row is as the images are; in the others, new and labelled ones are exchanged. Classes
    with more images of both kinds weigh more.
    """
    count = len(new)
    news = int(new.sum())
    weight = news * (count - news) / count
    contrast = np.where(new, weight / news, -weight / (count - news))
    orders = noise.permuted(np.tile(np.arange(count), (PERMUTATIONS, 1)), axis=1)
    return np.concatenate([contrast[None], contrast[orders]])
