"""A map of a task: its examples as points in the plane, with those that look out of place.

The plane is that of the two directions in which the vectors of the examples differ most (principal
components of what the regression sees). An example that the others take for another class is likely
to be labelled wrongly; one that they would call "none of these" is an outlier.
"""

from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray

from samovar.classifier.fitted_regression import FittedRegression
from samovar.prediction.regression import able_to_be_left_out, left_out_rejection_scores


@dataclass(frozen=True)
class ClassMap:
    """Where each of n examples lies."""

    points: NDArray[np.float64]
    """(n, 2), each axis within -1 and 1."""
    outliers: NDArray[np.bool_]
    """(n,)"""
    explained: float
    """The share of the variance that the plane shows."""


def draw_map(fitted: FittedRegression, reject: float | None) -> ClassMap:
    """Return the map of a task."""
    spectrum = fitted.regression.spectrum
    coordinates = spectrum.coordinates.numpy()
    # Eigenvalues come in ascending order.
    plane = coordinates[:, ::-1][:, :2]
    points = np.zeros((len(coordinates), 2))
    points[:, : plane.shape[1]] = plane
    values = spectrum.values.numpy()
    total = float(values.sum())
    explained = float(values[-2:].sum()) / total if total else 1.0
    return ClassMap(_within_one(points), _outliers(fitted, reject), explained)


def _within_one(points: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return points that fill the square from -1 to 1 along their longer axis.

    The first point is to the right and above the middle: the directions of principal components
    are arbitrary, and a map that grows should not be turned over.
    """
    lowest = points.min(0)
    highest = points.max(0)
    centred = points - (lowest + highest) / 2
    largest = float((highest - lowest).max()) / 2
    if largest == 0:
        return centred
    return centred / largest * np.where(centred[0] < 0, -1, 1)


def _outliers(fitted: FittedRegression, reject: float | None) -> NDArray[np.bool_]:
    """Return which examples the others would call none of these; none without a threshold."""
    images = len(fitted.task.numbers)
    outliers = np.zeros(images, bool)
    if reject is None:
        return outliers
    with torch.no_grad():
        able = able_to_be_left_out(fitted.regression).numpy()
        scores = left_out_rejection_scores(fitted.regression).numpy()
    outliers[able] = scores > fitted.threshold(reject)
    return outliers
