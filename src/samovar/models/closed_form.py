"""The classifier's weights by exact inference: Bayesian linear regression on the support.

A sibling of the inference network g. Where g predicts p(w | D) from class means, here p(w | D) is
the posterior of a conjugate model, exactly: every class has a weight vector w_n ~ N(0, I / lambda),
and the targets of the support, 1 - 1/N for its own class and -1/N for the others, are w_n f(x) plus
unit noise. With the support centred by its own mean m, F = f(X) - m of shape (n, d) and targets Y
of shape (n, N):

    mean of w:        W = (F'F + lambda I)^-1 F'Y
    score of x:       s(x) = W'(f(x) - m)
    variance of x:    v(x) = lambda (f(x) - m)' (F'F + lambda I)^-1 (f(x) - m)

The logits are Gaussian, N(alpha l(s), alpha^2 c v), and the predictive averages the softmax over
them, as for every model of the family. The ridge lambda and the scale alpha depend on the numbers
of shots and ways. So does the link l(s) = sign(s) log(1 + b |s|) / b, with a bend b: among many
classes, a score twice as high is not evidence that is twice as strong. The scale depends on the
dispersion of the support, too, which is all that a task with one image of each class tells about
itself: classes that are alike are easily confused.

How hard a task is differs between collections of images more than any scale learned elsewhere can
know. So each task has a temperature t with log t ~ N(0, spread^2), whose posterior is computed from
the support itself: leaving one image out of a linear regression needs no second fit,

    left-out score of x_i:     y_i - (y_i - W'f_i) / (1 - h_i),   h_i = f_i' (F'F + lambda I)^-1 f_i
    left-out variance of x_i:  lambda h_i / (1 - h_i)

and the likelihood of the left-out labels weighs a grid of temperatures. The predictive averages
over the temperature too. With one image of each class nothing can be left out, and the prior
decides.

Everything is computed from the eigenvectors of F F' or F'F, whichever is smaller: 20,000 images of
1,000 classes cost a decomposition of d x d numbers. In float64, since n may exceed d.
"""

import math
from dataclasses import dataclass, replace
from functools import cached_property
from typing import NamedTuple

import torch
from torch import Tensor, nn
from torch.distributions import Normal
from torch.nn import functional

GRID = 13
"""Temperatures that are weighed."""
WIDEST = 4.0
"""The grid reaches from so many standard deviations below the prior's mean to as many above."""
TYPICAL_DISPERSION = 0.35
"""That of most supports; the scale depends on the dispersion relative to it."""
DISPERSIONS = (0.05, 1.0)
"""Copies of one image have none, and unit vectors have at most 1."""
BLOCK = 1024
"""Images whose left-out logits are worked on at once: those of 1,000 classes fit into a cache."""
SMALLEST_EIGENVALUE = 1e-9
"""Relative to the largest: what is below is rounding, and has no direction of its own."""


def unit_features(vectors: Tensor, power: float) -> Tensor:
    """Return vectors (n, d) of an encoder raised to a power, sign kept, and scaled to length 1.

    Activations of a rectified network have long tails: a few large numbers would decide every
    comparison. A root evens them out.
    """
    rooted = vectors.sign() * vectors.abs().pow(power)
    return functional.normalize(rooted.double(), dim=-1)


@dataclass(frozen=True)
class Spectrum:
    """The centred support in the coordinates of its own eigenvectors.

    mean: m, (d,); values: eigenvalues of F'F that are not zero, (r,); directions: (r, d);
    coordinates: of the support images, (n, r).
    """

    mean: Tensor
    values: Tensor
    directions: Tensor
    coordinates: Tensor

    @classmethod
    def of(cls, features: Tensor) -> "Spectrum":
        """Decompose features (n, d), by whichever of n and d is smaller."""
        mean = features.mean(0)
        centred = features - mean
        if len(centred) <= centred.shape[1]:
            values, vectors = torch.linalg.eigh(centred @ centred.T)
            kept = values > SMALLEST_EIGENVALUE * values.max()
            values = values[kept]
            directions = (centred.T @ vectors[:, kept] / values.sqrt()).T
        else:
            values, vectors = torch.linalg.eigh(centred.T @ centred)
            kept = values > SMALLEST_EIGENVALUE * values.max()
            values = values[kept]
            directions = vectors[:, kept].T
        return cls(mean, values, directions, centred @ directions.T)

    @property
    def dispersion(self) -> float:
        """The mean squared distance of the support from its mean, with n - 1 in the denominator."""
        images = len(self.coordinates)
        if images < 2:
            return TYPICAL_DISPERSION
        smallest, largest = DISPERSIONS
        return min(max(float(self.values.sum()) / (images - 1), smallest), largest)


class Moments(NamedTuple):
    """What the regression says of Q images: scores s (Q, N) and variances v (Q,)."""

    scores: Tensor
    variance: Tensor


@dataclass(frozen=True)
class TaskShape:
    """What the hyper-parameters depend on."""

    way: int
    """The number of classes."""
    shots: float
    """The mean number of images of a class."""
    dispersion: float = TYPICAL_DISPERSION
    """How far the support images are from each other (`Spectrum.dispersion`)."""


class ClosedForm(nn.Module):
    """The hyper-parameters of the regression, learned over tasks of several collections.

    log lambda and log alpha are linear in log shots and log(ways / 5), and log b in the latter.
    log alpha is also linear in the log dispersion, divided by the shots: a task of many shots shows
    by its left-out images how hard it is.
    """

    def __init__(self, power: float = 0.5, spread: float = 0.3) -> None:
        super().__init__()
        self.power = power
        self.spread = spread
        self.ridge = nn.Parameter(torch.tensor([-1.5, -0.1, 0.0], dtype=torch.float64))
        self.scale = nn.Parameter(torch.tensor([3.2, -0.1, 0.2, 0.0], dtype=torch.float64))
        self.bend = nn.Parameter(torch.tensor([-1.0, 0.0], dtype=torch.float64))
        self.variance = nn.Parameter(torch.tensor(-4.5, dtype=torch.float64))

    def log_ridge(self, shape: TaskShape) -> Tensor:
        """Return log lambda for a task of this shape."""
        at_one_shot, slope_of_shots, slope_of_ways = self.ridge
        log_way = math.log(shape.way / 5)
        return at_one_shot + slope_of_shots * math.log(shape.shots) + slope_of_ways * log_way

    def log_scale(self, shape: TaskShape) -> Tensor:
        """Return log alpha for a task of this shape."""
        at_one_shot, slope_of_shots, slope_of_ways, slope_of_dispersion = self.scale
        log_way = math.log(shape.way / 5)
        log_dispersion = math.log(shape.dispersion / TYPICAL_DISPERSION)
        by_shape = slope_of_shots * math.log(shape.shots) + slope_of_ways * log_way
        return at_one_shot + by_shape + slope_of_dispersion * log_dispersion / shape.shots

    def linked(self, scores: Tensor, shape: TaskShape) -> Tensor:
        """Return l(s) = sign(s) log(1 + b |s|) / b, which is s where b is small."""
        at_five_ways, slope_of_ways = self.bend
        bend = torch.exp(at_five_ways + slope_of_ways * math.log(shape.way / 5))
        return scores.sign() * torch.log1p(bend * scores.abs()) / bend

    def infer(self, vectors: Tensor, labels: Tensor, way: int) -> "Regression":
        """Return p(w | D) from the encoder's vectors (n, d) of the support and labels (n,)."""
        spectrum = Spectrum.of(unit_features(vectors, self.power))
        targets = functional.one_hot(labels, way).double() - 1 / way
        shape = TaskShape(way, len(labels) / way, spectrum.dispersion)
        return Regression(self, spectrum, targets, labels, shape)


@dataclass(frozen=True)
class Regression:
    """p(w | D) of one task, and the posterior of its temperature."""

    model: ClosedForm
    spectrum: Spectrum
    targets: Tensor
    labels: Tensor
    shape: TaskShape

    @cached_property
    def ridge(self) -> Tensor:
        """Lambda of this task."""
        return self.model.log_ridge(self.shape).exp()

    @cached_property
    def weights(self) -> Tensor:
        """W in the coordinates of the spectrum, (r, N)."""
        products = self.spectrum.coordinates.T @ self.targets
        return products / (self.spectrum.values + self.ridge)[:, None]

    def logits(self, vectors: Tensor) -> Normal:
        """Return the Gaussian logits (Q, N) of queries with the encoder's vectors (Q, d)."""
        return self.gaussian(self.moments(vectors))

    def moments(self, vectors: Tensor) -> "Moments":
        """Return scores and variances of queries with the encoder's vectors (Q, d)."""
        centred = unit_features(vectors, self.model.power) - self.spectrum.mean
        coordinates = centred @ self.spectrum.directions.T
        shrinkage = self.spectrum.values / (self.spectrum.values + self.ridge)
        explained = (coordinates.square() * shrinkage).sum(1)
        variance = (centred.square().sum(1) - explained).clamp(min=0)
        return Moments(coordinates @ self.weights, variance)

    def gaussian(self, moments: "Moments") -> Normal:
        """Return the Gaussian logits (Q, N) of queries with these scores and variances."""
        return self._gaussian(moments, self.shape)

    def left_out_logits(self) -> Normal:
        """Return the Gaussian logits (n, N) of each support image had it not been there.

        The scale is that of a task with one shot less.
        """
        shape = replace(self.shape, shots=max(self.shape.shots - 1, 1))
        return self._gaussian(self.left_out_moments(), shape)

    def left_out_moments(self) -> "Moments":
        """Return scores and variances of each support image had it not been there."""
        return self._left_out_moments

    @cached_property
    def _left_out_moments(self) -> "Moments":
        """Computed once: with 20,000 images of 1,000 classes it takes a second."""
        coordinates = self.spectrum.coordinates
        leverage = (coordinates.square() / (self.spectrum.values + self.ridge)).sum(1)
        leverage = leverage.clamp(max=1 - 1e-6)
        residuals = self.targets - coordinates @ self.weights
        scores = self.targets - residuals / (1 - leverage)[:, None]
        variance = self.ridge * leverage / (1 - leverage)
        return Moments(scores, variance)

    def _gaussian(self, moments: "Moments", shape: TaskShape) -> Normal:
        scores, variance = moments
        scale = self.model.log_scale(shape).exp()
        spread = scale * (self.model.variance.exp() * variance + 1e-12).sqrt()
        mean = scale * self.model.linked(scores, shape)
        return Normal(mean, spread[:, None].expand_as(mean), validate_args=False)

    @cached_property
    def log_temperatures(self) -> Tensor:
        """The grid of log t, (GRID,)."""
        steps = torch.linspace(-WIDEST, WIDEST, GRID, dtype=torch.float64)
        return self.model.spread * steps.to(self.targets.device)

    @cached_property
    def temperature_weights(self) -> Tensor:
        """The posterior of the temperature on the grid, (GRID,).

        Images whose class has no other are left aside: without them their class is unknown.
        """
        log_prior = -0.5 * (self.log_temperatures / self.model.spread).square()
        counts = torch.bincount(self.labels, minlength=self.shape.way)
        able = counts[self.labels] > 1
        if not able.any():
            return log_prior.softmax(0)
        logits = self.left_out_logits()
        if not able.all():
            logits = Normal(logits.mean[able], logits.stddev[able], validate_args=False)
        labels = self.labels[able]
        likelihoods = []
        for log_temperature in self.log_temperatures:
            likelihoods.append(_log_likelihood(logits, labels, log_temperature))
        return (log_prior + torch.stack(likelihoods)).softmax(0)

    def probabilities(self, vectors: Tensor) -> Tensor:
        """Return class probabilities (Q, N), averaged over weights and temperature.

        The average over Gaussian logits is MacKay's approximation, which training uses too.
        """
        logits = self.logits(vectors)
        total = torch.zeros_like(logits.mean)
        grid = zip(self.log_temperatures, self.temperature_weights, strict=True)
        for log_temperature, weight in grid:
            total = total + weight * mean_field(logits, log_temperature).softmax(-1)
        return total


def _log_likelihood(logits: Normal, labels: Tensor, log_temperature: Tensor) -> Tensor:
    """Return the log likelihood of labels (n,) under Gaussian logits (n, N) at a temperature."""
    losses = []
    for start in range(0, len(labels), BLOCK):
        rows = slice(start, start + BLOCK)
        block = Normal(logits.mean[rows], logits.stddev[rows], validate_args=False)
        tempered = mean_field(block, log_temperature)
        losses.append(functional.cross_entropy(tempered, labels[rows], reduction="sum"))
    return -torch.stack(losses).sum()


def mean_field(logits: Normal, log_temperature: Tensor) -> Tensor:
    """Return logits whose softmax approximates its average over Gaussian logits (MacKay).

    The standard deviation of a query is the same for all its classes.
    """
    inverse = torch.exp(-log_temperature)
    shrinkage = 1 + math.pi / 8 * (logits.stddev[..., :1] * inverse).square()
    return logits.mean * (inverse / shrinkage.sqrt())
