"""Classifiers: from a distribution over weights and query features to logits."""

from dataclasses import dataclass
from typing import Literal

import torch
from torch import Tensor
from torch.distributions import Normal
from torch.nn import functional

from samovar.models.inference import WeightDistribution
from samovar.models.precision import full_precision


def linear_logits(features: Tensor, weights: Tensor, biases: Tensor | None) -> Tensor:
    """w f(x) + b, Eq. (classif): features (..., Q, d), weights (..., N, d), biases (..., N) -> (..., Q, N)."""
    logits = features @ weights.transpose(-1, -2)
    return logits if biases is None else logits + biases[..., None, :]


def linear_logit_distribution(features: Tensor, classifier: WeightDistribution) -> Normal:
    """The Gaussian of each query's logits (T, Q, N) when the weights are Gaussian (local reparameterisation).

    Exact for each query by itself; the dependence between queries through the common weights is not in it.
    """
    weights, biases = classifier
    mean = linear_logits(features, weights.mean, None if biases is None else biases.mean)
    variance = linear_logits(
        features.square(), weights.variance, None if biases is None else biases.variance
    )
    return Normal(
        mean, (variance + 1e-12).sqrt(), validate_args=False
    )  # the root has no slope at zero


def cosine_logits(features: Tensor, weights: Tensor, alpha: float) -> Tensor:
    """alpha * cos(f(x), w_n), Eq. (reconstruction_loss), with every weight vector normalised by its own length."""
    # TADAM's guard: with a smaller one a vector of zeros would have a gradient of 1e13
    unit_features, unit_weights = (
        functional.normalize(each, dim=-1, eps=1e-6) for each in (features, weights)
    )
    return alpha * unit_features @ unit_weights.transpose(-1, -2)


def distance_logits(features: Tensor, prototypes: Tensor, alpha: float, *, squared: bool) -> Tensor:
    """-alpha times the Euclidean distance to the class mean (TADAM), or its square (Prototypical Networks)."""
    # Differences of large norms lose digits where distances are small, so no |a|^2 - 2ab + |b|^2 here.
    distances = torch.cdist(features, prototypes, compute_mode="donot_use_mm_for_euclid_dist")
    return -alpha * (distances.square() if squared else distances)


@dataclass(frozen=True)
class Classifier:
    """The kind of classifier that a model has, and how its logits are sampled."""

    kind: Literal["linear", "cosine", "euclidean", "squared"]
    alpha: float

    @property
    def deterministic(self) -> bool:
        """Prototypes have no variance to sample."""
        return self.kind in ("euclidean", "squared")

    def noise_shape(
        self, samples: int, features: Tensor, distribution: WeightDistribution
    ) -> tuple[int, int, int]:
        """Shape of a task's noise: logits (L, Q, N) for the linear classifier, weights (L, N, d) for the cosine."""
        classes, dim = distribution.weights.mean.shape[-2:]
        return (
            (samples, features.shape[-2], classes)
            if self.kind == "linear"
            else (samples, classes, dim)
        )

    def sampled_logits(
        self, features: Tensor, distribution: WeightDistribution, epsilon: Tensor
    ) -> Tensor:
        """L samples of the logits: features (T, Q, d), epsilon (T or 1, L, ...) -> (T, L, Q, N)."""
        with full_precision(features):
            if self.kind == "linear":
                logits = linear_logit_distribution(features.float(), distribution)
                return logits.mean[:, None] + logits.stddev[:, None] * epsilon
            weights = (
                distribution.weights.mean[:, None] + distribution.weights.stddev[:, None] * epsilon
            )  # (T, L, N, d)
            return cosine_logits(features.float()[:, None], weights, self.alpha)

    def mean_logits(self, features: Tensor, distribution: WeightDistribution) -> Tensor:
        """Logits of the classifier at the mean of the distribution, (T, Q, N)."""
        features, weights, biases = features.float(), distribution.weights.mean, distribution.biases
        with full_precision(features):
            if self.kind == "linear":
                return linear_logits(features, weights, None if biases is None else biases.mean)
            if self.kind == "cosine":
                return cosine_logits(features, weights, self.alpha)
            return distance_logits(features, weights, self.alpha, squared=self.kind == "squared")
