"""Classifiers: from a distribution over weights, and query features, to logits.

There are three. The linear classifier has logits w f(x) + b, the scaled cosine alpha cos(f(x), w),
and prototypes the negative distance to the class mean. The first two sample their logits by two
routes: in training for all tasks at once and with gradients (`sampled_logits`), and in prediction,
where thousands of samples are wanted and only blocks of them fit into memory
(`predictive_sampler`). Both are the same mathematics, and a test compares them.

Shapes: T tasks, L samples, Q queries, N classes, d features.
"""

from abc import ABC, abstractmethod
from dataclasses import dataclass

import torch
from torch import Tensor
from torch.distributions import Normal
from torch.nn import functional

from samovar.models.inference import WeightDistribution
from samovar.models.noise import PredictionNoise, SampleBlock
from samovar.models.precision import full_precision

SMALLEST_LENGTH = 1e-6
"""TADAM's guard; with torch's default of 1e-12 a vector of zeros would get gradients near 1e13."""


class LogitSampler(ABC):
    """Samples logits of one task at a time, for prediction."""

    numbers_per_sample: int
    """Numbers that one sampled classifier keeps in memory; it decides the size of blocks."""

    @abstractmethod
    def __call__(self, task: int, block: SampleBlock, queries: slice) -> Tensor:
        """Sample logits (N, L, Q) of some queries of the task at a position."""


class Classifier(ABC):
    """How weights and features make logits."""

    deterministic = False
    """Whether there is no variance to sample."""
    conditions_queries = False
    """Whether the classified features are conditioned on the task by TEN, as TADAM's are."""

    @abstractmethod
    def mean_logits(self, features: Tensor, distribution: WeightDistribution) -> Tensor:
        """Return logits (T, Q, N) of the classifier at the mean of the distribution."""

    def noise_shape(
        self, samples: int, features: Tensor, distribution: WeightDistribution
    ) -> tuple[int, int, int]:
        """Return the shape of the noise that a task needs for L samples in training."""
        del samples, features, distribution
        raise TypeError(f"{type(self).__name__} has nothing to sample")

    def sampled_logits(
        self, features: Tensor, distribution: WeightDistribution, epsilon: Tensor
    ) -> Tensor:
        """Sample logits (T, L, Q, N) for features (T, Q, d); epsilon is (T or 1, *noise_shape)."""
        del features, distribution, epsilon
        raise TypeError(f"{type(self).__name__} has nothing to sample")

    def predictive_sampler(
        self, features: Tensor, distribution: WeightDistribution, noise: PredictionNoise
    ) -> LogitSampler:
        """Return a sampler of the logits of features (T, Q, d), block by block, for prediction."""
        del features, distribution, noise
        raise TypeError(f"{type(self).__name__} has nothing to sample")

    def whole_sampler(
        self, features: Tensor, distribution: WeightDistribution, noise: PredictionNoise
    ) -> LogitSampler:
        """Return a sampler of whole weights, for studies of how samples scatter."""
        return self.predictive_sampler(features, distribution, noise)


# --- linear


def linear_logits(features: Tensor, weights: Tensor, biases: Tensor | None) -> Tensor:
    """Return w f(x) + b, Eq. (classif): (..., Q, d), (..., N, d), (..., N) -> (..., Q, N)."""
    logits = features @ weights.transpose(-1, -2)
    if biases is None:
        return logits
    return logits + biases[..., None, :]


def linear_logit_distribution(features: Tensor, distribution: WeightDistribution) -> Normal:
    """Return the Gaussian of each query's logits (T, Q, N) under Gaussian weights.

    This is the local reparameterisation: mean f.mu_w + mu_b, variance f^2.sigma_w^2 + sigma_b^2. It
    is exact for each query by itself, but leaves out the dependence between queries through their
    common weights.
    """
    weights, biases = distribution
    bias_mean = None
    bias_variance = None
    if biases is not None:
        bias_mean = biases.mean
        bias_variance = biases.variance
    mean = linear_logits(features, weights.mean, bias_mean)
    variance = linear_logits(features.square(), weights.variance, bias_variance)
    # At zero the slope of the root is infinite, and the gradient would be NaN.
    return Normal(mean, (variance + 1e-12).sqrt(), validate_args=False)


class LinearClassifier(Classifier):
    """Logits w f(x) + b. They are Gaussian, so logits are sampled instead of the larger weights."""

    def mean_logits(self, features: Tensor, distribution: WeightDistribution) -> Tensor:
        """Return logits (T, Q, N) of the classifier at the mean."""
        biases = None
        if distribution.biases is not None:
            biases = distribution.biases.mean
        with full_precision(features):
            return linear_logits(features.float(), distribution.weights.mean, biases)

    def noise_shape(
        self, samples: int, features: Tensor, distribution: WeightDistribution
    ) -> tuple[int, int, int]:
        """Return (L, Q, N): the logits are sampled."""
        return samples, features.shape[-2], distribution.weights.mean.shape[-2]

    def sampled_logits(
        self, features: Tensor, distribution: WeightDistribution, epsilon: Tensor
    ) -> Tensor:
        """Sample logits (T, L, Q, N) with noise (T or 1, L, Q, N)."""
        with full_precision(features):
            logits = linear_logit_distribution(features.float(), distribution)
            return logits.mean[:, None] + logits.stddev[:, None] * epsilon

    def predictive_sampler(
        self, features: Tensor, distribution: WeightDistribution, noise: PredictionNoise
    ) -> LogitSampler:
        """Return the sampler of Gaussian logits."""
        return LinearLogitSampler(linear_logit_distribution(features, distribution), noise)

    def whole_sampler(
        self, features: Tensor, distribution: WeightDistribution, noise: PredictionNoise
    ) -> LogitSampler:
        """Return the sampler of weights, which takes longer than that of logits."""
        return LinearWeightSampler(features, distribution, noise)


class LinearLogitSampler(LogitSampler):
    """Samples Gaussian logits; a sample has one number for each class, common to all queries.

    In training every query has its own noise. In prediction the noise is common, so that the
    prediction of a query does not depend on which others are asked beside it.
    """

    def __init__(self, logits: Normal, noise: PredictionNoise) -> None:
        self.mean = logits.mean.mT.contiguous()  # (T, N, Q)
        self.stddev = logits.stddev.mT.contiguous()
        self.noise = noise
        self.numbers_per_sample = self.mean.shape[1]

    def __call__(self, task: int, block: SampleBlock, queries: slice) -> Tensor:
        """Sample logits (N, L, Q) of some queries of a task."""
        epsilon = self.noise.logits(task, block, self.numbers_per_sample)
        mean = self.mean[task, :, None, queries]
        return torch.addcmul(mean, self.stddev[task, :, None, queries], epsilon[..., None])


class LinearWeightSampler(LogitSampler):
    """Samples the weights themselves, so that queries depend on each other as they really do.

    Averages are those of `LinearLogitSampler`. The scatter of averages from repeat to repeat is
    not: one number for each class moves all queries the same way, weights do not.
    """

    def __init__(
        self, features: Tensor, distribution: WeightDistribution, noise: PredictionNoise
    ) -> None:
        self.features = features
        self.distribution = distribution
        self.noise = noise
        self.way, self.dim = distribution.weights.mean.shape[1:]
        self.numbers_per_sample = self.way * (self.dim + 1)

    def __call__(self, task: int, block: SampleBlock, queries: slice) -> Tensor:
        """Sample logits (N, L, Q) of some queries of a task."""
        # The last number of each class is the noise of its bias.
        epsilon = self.noise.weights(task, block, self.way, self.dim + 1).epsilon
        normal = self.distribution.weights
        weights = normal.mean[task][:, None] + normal.stddev[task][:, None] * epsilon[..., :-1]
        logits = weights @ self.features[task, queries].T
        biases = self.distribution.biases
        if biases is None:
            return logits
        sampled = biases.mean[task][:, None] + biases.stddev[task][:, None] * epsilon[..., -1]
        return logits + sampled[..., None]


# --- scaled cosine


def cosine_logits(features: Tensor, weights: Tensor, alpha: float) -> Tensor:
    """Return alpha * cos(f(x), w_n), Eq. (reconstruction_loss), for (..., Q, d) and (..., N, d).

    Every weight vector is divided by its own length.
    """
    unit_features = functional.normalize(features, dim=-1, eps=SMALLEST_LENGTH)
    unit_weights = functional.normalize(weights, dim=-1, eps=SMALLEST_LENGTH)
    return alpha * unit_features @ unit_weights.transpose(-1, -2)


@dataclass(frozen=True)
class CosineClassifier(Classifier):
    """Logits alpha cos(f(x), w), the scaled cosine (SC)."""

    alpha: float

    def mean_logits(self, features: Tensor, distribution: WeightDistribution) -> Tensor:
        """Return logits (T, Q, N) of the classifier at the mean."""
        with full_precision(features):
            return cosine_logits(features.float(), distribution.weights.mean, self.alpha)

    def noise_shape(
        self, samples: int, features: Tensor, distribution: WeightDistribution
    ) -> tuple[int, int, int]:
        """Return (L, N, d): the weights are sampled."""
        del features
        way, dim = distribution.weights.mean.shape[-2:]
        return samples, way, dim

    def sampled_logits(
        self, features: Tensor, distribution: WeightDistribution, epsilon: Tensor
    ) -> Tensor:
        """Sample logits (T, L, Q, N) with noise (T or 1, L, N, d)."""
        mu = distribution.weights.mean[:, None]
        sigma = distribution.weights.stddev[:, None]
        with full_precision(features):
            weights = mu + sigma * epsilon  # (T, L, N, d)
            return cosine_logits(features.float()[:, None], weights, self.alpha)

    def predictive_sampler(
        self, features: Tensor, distribution: WeightDistribution, noise: PredictionNoise
    ) -> LogitSampler:
        """Return the sampler of cosines."""
        return CosineLogitSampler(self.alpha, features, distribution, noise)


class CosineLogitSampler(LogitSampler):
    """Samples cosines with w = mu + sigma epsilon without making w.

    f . w and |w|^2 are products with epsilon and its square. The weights of all samples and queries
    would take L x N x d numbers for each task, while one bank of noise serves many tasks.
    """

    def __init__(
        self,
        alpha: float,
        features: Tensor,
        distribution: WeightDistribution,
        noise: PredictionNoise,
    ) -> None:
        self.alpha = alpha
        self.noise = noise
        self.mu = distribution.weights.mean  # (T, N, d)
        self.sigma = distribution.weights.stddev
        self.unit_features = functional.normalize(features, dim=-1, eps=SMALLEST_LENGTH)
        self.at_mean = self.mu @ self.unit_features.mT  # (T, N, Q)
        self.way, self.dim = self.mu.shape[1:]
        self.numbers_per_sample = self.way * self.dim

    def __call__(self, task: int, block: SampleBlock, queries: slice) -> Tensor:
        """Sample logits (N, L, Q) of some queries of a task."""
        noise = self.noise.weights(task, block, self.way, self.dim)
        mu = self.mu[task]
        scale = self.sigma[task][..., None]  # (N, d, 1)
        features = self.unit_features[task, queries].T.expand(self.way, -1, -1)
        # One product of matrices gives epsilon sigma f for all queries and, in the last column,
        # epsilon sigma mu.
        vectors = torch.cat([features, mu[..., None]], -1)
        products = noise.epsilon @ (scale * vectors)
        squared_mean = mu.square().sum(-1)[:, None, None]
        # |w|^2 = |mu|^2 + 2 mu sigma epsilon + |sigma epsilon|^2
        squared_length = squared_mean + 2 * products[..., -1:] + noise.squares @ scale.square()
        dot = self.at_mean[task, :, None, queries] + products[..., :-1]
        # The guard is SMALLEST_LENGTH squared; rounding may even leave a negative number.
        return self.alpha * (dot * squared_length.clamp(min=1e-12).rsqrt())


# --- prototypes


def distance_logits(features: Tensor, prototypes: Tensor, alpha: float, *, squared: bool) -> Tensor:
    """Return -alpha times the Euclidean distance to each class mean: (..., Q, d) -> (..., Q, N).

    The distance itself is TADAM's, its square that of Prototypical Networks.
    """
    # By differences: |a|^2 - 2ab + |b|^2 would lose digits where distances are small.
    distances = torch.cdist(features, prototypes, compute_mode="donot_use_mm_for_euclid_dist")
    if squared:
        distances = distances.square()
    return -alpha * distances


@dataclass(frozen=True)
class PrototypeClassifier(Classifier):
    """Logits by the distance to the class mean, the deterministic baseline."""

    alpha: float
    squared: bool

    deterministic = True
    conditions_queries = True

    def mean_logits(self, features: Tensor, distribution: WeightDistribution) -> Tensor:
        """Return logits (T, Q, N)."""
        with full_precision(features):
            return distance_logits(
                features.float(), distribution.weights.mean, self.alpha, squared=self.squared
            )


def make_classifier(kind: str, alpha: float) -> Classifier:
    """Return the classifier that `ModelSettings.classifier` names."""
    if kind == "linear":
        return LinearClassifier()
    if kind == "cosine":
        return CosineClassifier(alpha)
    return PrototypeClassifier(alpha, squared=kind == "squared")
