"""The predictive of a regression, and how little a query belongs to its task.

The logits of a `Regression` are Gaussian and its temperature has a posterior. Both are sampled
together by quasi-random points: each sample is a classifier with a temperature of its own. So
probabilities, spread, entropy and mutual information are those of every other model.
"""

import math

import torch
from torch import Tensor
from torch.distributions import Normal

from samovar.models.classifiers import LogitSampler
from samovar.models.closed_form import Moments, Regression
from samovar.models.noise import PredictionNoise, SampleBlock
from samovar.prediction.predictive import Prediction, average_samples, entropy_of

SMALLEST_VARIANCE = 1e-12
"""A query that equals a support image has next to no variance, and its logarithm is bounded."""

LEVEL = 0.9
"""The quantile of left-out scores that thresholds are relative to."""


class TemperedLogitSampler(LogitSampler):
    """Samples Gaussian logits of one task, divided by a temperature that is sampled with them.

    One more dimension of the same quasi-random points chooses the temperature, by the quantiles of
    its posterior.
    """

    def __init__(self, logits: Normal, regression: Regression, noise: PredictionNoise) -> None:
        self.mean = logits.mean.T.float().contiguous()  # (N, Q)
        # The variance that the model has learned is that of the difference of two logits, since
        # this is what MacKay's approximation, by which it was learned, shrinks by. Each of the two
        # has half of it.
        self.stddev = (logits.stddev.T / math.sqrt(2)).float().contiguous()
        self.cumulative = regression.temperature_weights.cumsum(0)
        self.inverse = torch.exp(-regression.log_temperatures).float()
        self.noise = noise
        self.numbers_per_sample = len(self.mean) + 1

    def __call__(self, task: int, block: SampleBlock, queries: slice) -> Tensor:
        """Sample logits (N, L, Q) of some queries."""
        epsilon, inverse = self.points(task, block)
        sampled = self.mean[:, None, queries] + self.stddev[:, None, queries] * epsilon[..., None]
        return sampled * inverse[:, None]

    def points(self, task: int, block: SampleBlock) -> tuple[Tensor, Tensor]:
        """Return the noise of the logits (N, L), and 1 / t of each sample (L,)."""
        epsilon = self.noise.logits(task, block, self.numbers_per_sample)
        return epsilon[:-1], self._inverse_temperatures(epsilon[-1])

    def _inverse_temperatures(self, epsilon: Tensor) -> Tensor:
        """Return 1 / t of each sample, (L,)."""
        shares = torch.special.ndtr(epsilon.double())
        positions = torch.searchsorted(self.cumulative, shares)
        return self.inverse[positions.clamp(max=len(self.inverse) - 1)]


@torch.no_grad()
def predict_regression(
    regression: Regression, moments: Moments, samples: int, noise: PredictionNoise
) -> Prediction:
    """Return the predictive (1, Q, N) of queries by L samples of logits and temperature."""
    sampler = TemperedLogitSampler(regression.gaussian(moments), regression, noise)
    queries, way = moments.scores.shape
    return average_samples(sampler, samples, (1, way, queries), moments.scores.device)


@torch.no_grad()
def predict_left_out(regression: Regression, samples: int, noise: PredictionNoise) -> Prediction:
    """Return the predictive (1, n, N) of each support image had it not been there."""
    sampler = TemperedLogitSampler(regression.left_out_logits(), regression, noise)
    shape = (1, regression.shape.way, len(regression.labels))
    return average_samples(sampler, samples, shape, regression.labels.device)


@torch.no_grad()
def predict_regression_at_mean(regression: Regression, moments: Moments) -> Prediction:
    """Return the prediction (1, Q, N) at the mean of the weights and of the log temperature."""
    log_temperature = (regression.temperature_weights * regression.log_temperatures).sum()
    logits = regression.gaussian(moments).mean * torch.exp(-log_temperature)
    probabilities = logits.softmax(-1)[None].float()
    return Prediction(probabilities, entropy_of(probabilities))


def rejection_score(moments: Moments) -> Tensor:
    """Return how little each query belongs to its task, (Q,): log v - 2 max s.

    A query belongs less where the regression knows less (its variance v), and where no class claims
    it (its largest score s). With a single class all scores are zero, and the variance decides.
    """
    variance = moments.variance.clamp(min=SMALLEST_VARIANCE)
    return variance.log() - 2 * moments.scores.amax(1)


def left_out_rejection_scores(regression: Regression) -> Tensor:
    """Return the rejection score of each support image that can be left out, (m,).

    That is each whose class has another. Leaving out keeps the centre m, to which the image itself
    has contributed: without it, the image would be n / (n - 1) times as far from the centre.
    """
    able = able_to_be_left_out(regression)
    scores = rejection_score(regression.left_out_moments())[able]
    images = len(regression.labels)
    if images < 2:
        return scores
    return scores + 2 * math.log(images / (images - 1))


def left_out_level(regression: Regression) -> float | None:
    """Return the 90 % quantile of the support's left-out scores; None if none can be left out.

    Thresholds are relative to it. The median would say less about the few images of a class that
    are unlike the others, and more about photographs that were taken in a row.
    """
    scores = left_out_rejection_scores(regression)
    if not len(scores):
        return None
    return float(scores.quantile(LEVEL))


def able_to_be_left_out(regression: Regression) -> Tensor:
    """Return whether the class of each support image has another image, (n,)."""
    counts = torch.bincount(regression.labels, minlength=regression.shape.way)
    return counts[regression.labels] > 1
