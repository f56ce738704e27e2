"""The calibration of a network: how far its classifiers spread and how warm they are, by shape.

A network learns its prior p(w | D) at the shots and ways that it is trained on, and on training
classes. On new classes, at other shots and at other ways its probabilities are too sure or too
modest (docs/calibration.md). Two numbers mend that: a factor s on the standard deviations of the
weights, and a temperature t that divides the logits,

    p(y | x, D) = mean over w ~ N(mu, s^2 sigma^2) of softmax(logits(w, x) / t).

Both are smooth functions of the numbers of shots and ways, fitted on tasks of validation classes
(`samovar.evaluation.calibration_fit`) and stored with the model. How hard a task is for its shape,
only its own images can tell: its temperature is t times e^u with u ~ N(0, spread^2), and u is
learned from left-out support images (`samovar.prediction.learned_temperature`).
"""

import math
from dataclasses import asdict, astuple, dataclass
from typing import Any

import torch
from torch import Tensor

from samovar.errors import UnreadableError
from samovar.prediction.task_temperature import deviations, prior_weights
from samovar.settings.checked import checked

FURTHEST = 2.0
"""Laws are followed to this multiple of the largest measured number of classes, and no further."""
LARGEST_EXPONENT = 10.0
"""No law has a larger logarithm."""
LARGEST_COEFFICIENT = 100.0
LARGEST_SPREAD = 5.0
"""Stored numbers that are larger are damaged, and would make answers that are no numbers."""


@dataclass(frozen=True)
class ShapeLaw:
    """A positive number whose logarithm is a parabola in log(shots), linear in log(ways / 5).

    >>> ShapeLaw(0.7, -0.5).at(way=5, shots=1)
    2.01...
    """

    constant: float = 0.0
    by_log_shots: float = 0.0
    by_squared_log_shots: float = 0.0
    by_log_ways: float = 0.0
    by_inverse_shots: float = 0.0
    """Only models of an earlier version have this term."""

    def at(self, way: float, shots: float) -> float:
        """Return the number at a shape."""
        terms = (*shape_terms(way, shots), 1 / shots)
        exponents = zip(self.coefficients, terms, strict=True)
        exponent = sum(coefficient * term for coefficient, term in exponents)
        return math.exp(min(max(exponent, -LARGEST_EXPONENT), LARGEST_EXPONENT))

    @property
    def coefficients(self) -> tuple[float, ...]:
        """All coefficients."""
        return astuple(self)


def shape_terms(way: float, shots: float) -> tuple[float, ...]:
    """Return what the logarithm of a law is linear in: four numbers."""
    log_shots = math.log(shots)
    return 1.0, log_shots, log_shots**2, math.log(way / 5)


@dataclass(frozen=True)
class TaskCalibration:
    """The calibration of one task.

    factor: of the standard deviations; log_temperatures: a grid (G,); weights: of the grid, (G,),
    which sum to one.
    """

    factor: float
    log_temperatures: Tensor
    weights: Tensor

    def inverse_temperatures(self, shares: Tensor) -> Tensor:
        """Return 1 / t at these quantiles (L,) of the temperature's distribution."""
        positions = torch.searchsorted(self.weights.cumsum(0), shares.double())
        positions = positions.clamp(max=len(self.weights) - 1)
        return torch.exp(-self.log_temperatures[positions]).float()


@dataclass(frozen=True)
class Calibration:
    """What a model knows of its own calibration."""

    about: str
    """The tasks on which it was fitted."""
    sigma: ShapeLaw
    """The factor on the standard deviations of the weights."""
    temperature: ShapeLaw
    """The temperature of the logits."""
    spread: float
    """The standard deviation of the log temperature between tasks of the same shape."""
    most_shots: int
    """The largest number of shots on which it was fitted."""
    most_ways: int
    """The largest number of classes on which it was fitted."""

    def of_task(self, way: int, shots: float, weights: Tensor | None) -> TaskCalibration:
        """Return the calibration of a task.

        Args:
            way: The number of its classes.
            shots: The mean number of images of a class.
            weights: The posterior of its own temperature (`temperature_weights`); the prior where
                nothing could be left out.
        """
        if weights is None:
            weights = prior_weights()
        way_inside = min(way, FURTHEST * self.most_ways)
        shots_inside = min(max(shots, 1.0), float(self.most_shots))
        log_temperature = math.log(self.temperature.at(way_inside, shots_inside))
        factor = self.sigma.at(way_inside, shots_inside)
        return TaskCalibration(factor, log_temperature + deviations(self.spread), weights)

    def to_dict(self) -> dict[str, Any]:
        """Return the form that JSON holds."""
        return asdict(self)

    @classmethod
    def from_dict(cls, stored: dict[str, Any]) -> "Calibration":
        """Read the JSON form of `to_dict`."""
        # Models of an earlier version have a law for left-out images, which nothing asks for now.
        entries = {name: value for name, value in stored.items() if name != "left_out"}
        calibration = checked(cls, entries)
        numbers = [calibration.spread]
        for law in (calibration.sigma, calibration.temperature):
            numbers += law.coefficients
        # NaN fails the comparison too.
        plausible = all(abs(number) <= LARGEST_COEFFICIENT for number in numbers)
        if not plausible or not 0 <= calibration.spread <= LARGEST_SPREAD:
            raise UnreadableError("the calibration has implausible numbers")
        if calibration.most_shots < 1 or calibration.most_ways < 1:
            raise UnreadableError("the calibration was fitted on no tasks")
        return calibration
