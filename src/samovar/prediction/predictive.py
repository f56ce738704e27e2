"""From a distribution over w to class probabilities: samples, quasi-random samples, or the mean.

The predictive of Eq. (predictive_distribution) averages probabilities, not logits. Samples are drawn in blocks whose
size depends on the shape of the classifier alone, each from its own noise: the answer to a query does not depend on
batches, processes or the other queries.
"""

from collections.abc import Callable
from dataclasses import dataclass

import torch
from torch import Tensor
from torch.nn import functional

from samovar.models.classifiers import Classifier, linear_logit_distribution
from samovar.models.inference import WeightDistribution
from samovar.models.precision import full_precision
from samovar.prediction.sampling_noise import Block, PredictiveNoise

LARGEST_BLOCK = 2**22
"""Numbers of one task that are in memory at once."""


@dataclass(frozen=True)
class Prediction:
    """What is believed of each query.

    probabilities: (T, Q, N), the mean of softmax over the samples; spread: (T, Q, N), their standard deviation over the
    samples; entropy: (T, Q), of the probabilities; mutual_information: (T, Q), between label and weights, in nats.
    A deterministic classifier has no spread and no mutual information.
    """

    probabilities: Tensor
    entropy: Tensor
    spread: Tensor | None = None
    mutual_information: Tensor | None = None

    def of_queries(self, chosen: Tensor) -> "Prediction":
        """Of some of the queries only, on the CPU."""
        optional = (self.spread, self.mutual_information)
        spread, information = (None if part is None else part[:, chosen].cpu() for part in optional)
        return Prediction(
            self.probabilities[:, chosen].cpu(), self.entropy[:, chosen].cpu(), spread, information
        )


@torch.no_grad()
def predict(
    classifier: Classifier,
    distribution: WeightDistribution,
    features: Tensor,
    samples: int,
    noise: PredictiveNoise,
) -> Prediction:
    """The predictive of query features (T, Q, d) under a distribution over w, by L samples."""
    if classifier.deterministic:
        return predict_at_mean(classifier, distribution, features)
    with full_precision(features):
        sampler = _linear_sampler if classifier.kind == "linear" else _cosine_sampler
        sampled_logits, numbers = sampler(classifier, distribution, features.float(), noise)
        return _average(
            sampled_logits,
            _blocks(samples, numbers, features.device),
            distribution,
            features.shape[1],
        )


def _average(
    sampled_logits: "LogitSampler",
    blocks: list[Block],
    distribution: WeightDistribution,
    queries: int,
) -> Prediction:
    tasks, way = distribution.weights.mean.shape[:2]
    total = torch.zeros(tasks, way, queries, device=blocks[0].device)
    squares, entropies = torch.zeros_like(total), torch.zeros_like(total[:, 0])
    for block in blocks:
        at_once = max(1, LARGEST_BLOCK // (way * block.count))
        for task in range(tasks):  # one at a time: its numbers stay in the processor's cache
            for first in range(0, queries, at_once):
                some = slice(first, first + at_once)
                log_probabilities = sampled_logits(task, block, some).log_softmax(
                    0
                )  # (N, L, Q): long rows, N is short
                probabilities = log_probabilities.exp()
                total[task, :, some] += probabilities.sum(1)
                squares[task, :, some] += torch.linalg.vector_norm(probabilities, dim=1).square()
                entropies[task, some] -= log_probabilities.mul_(probabilities).sum((0, 1))
    samples = sum(block.count for block in blocks)
    mean = (total / samples).mT.contiguous()
    entropy = entropy_of(mean)
    spread = (squares.mT / samples - mean.square()).clamp(min=0).sqrt()
    return Prediction(mean, entropy, spread, (entropy - entropies / samples).clamp(min=0))


LogitSampler = Callable[[int, Block, slice], Tensor]
"""From (position of the task, block of L samples, which Q of the queries) to logits (N, L, Q)."""


def _linear_sampler(
    classifier: Classifier,
    distribution: WeightDistribution,
    features: Tensor,
    noise: PredictiveNoise,
) -> tuple[LogitSampler, int]:
    """The logits of a linear classifier are Gaussian themselves, so that nothing larger need be sampled."""
    del classifier
    logits = linear_logit_distribution(features, distribution)
    mean, stddev = logits.mean.mT.contiguous(), logits.stddev.mT.contiguous()  # (T, N, Q)
    way = mean.shape[1]

    def sampled(task: int, block: Block, some: slice) -> Tensor:
        epsilon = noise.logits(task, block, way)
        return torch.addcmul(
            mean[task, :, None, some], stddev[task, :, None, some], epsilon[..., None]
        )

    return sampled, way


def _cosine_sampler(
    classifier: Classifier,
    distribution: WeightDistribution,
    features: Tensor,
    noise: PredictiveNoise,
) -> tuple[LogitSampler, int]:
    """Cosines with w = mu + sigma epsilon without making w: f.w and |w|^2 are products with epsilon and its square."""
    mu, sigma = distribution.weights.mean, distribution.weights.stddev  # (T, N, d)
    unit = functional.normalize(features, dim=-1, eps=1e-6)
    at_mean = mu @ unit.mT  # (T, N, Q)
    way, dim = mu.shape[1:]

    def sampled(task: int, block: Block, some: slice) -> Tensor:
        bank = noise.weights(task, block, way, dim)
        scale = sigma[task][..., None]  # (N, d, 1)
        vectors = torch.cat([unit[task, some].T.expand(way, -1, -1), mu[task][..., None]], -1)
        products = bank.epsilon @ (scale * vectors)
        length = (
            mu[task].square().sum(-1)[:, None, None]
            + 2 * products[..., -1:]
            + bank.squares @ scale.square()
        )
        cosine = (at_mean[task, :, None, some] + products[..., :-1]) * length.clamp(
            min=1e-12
        ).rsqrt()
        return classifier.alpha * cosine

    return sampled, way * dim


def _blocks(samples: int, numbers: int, device: torch.device) -> list[Block]:
    """Blocks of a power of two of samples, by the numbers that each sample has in memory."""
    largest = 1 << max(0, (LARGEST_BLOCK // numbers).bit_length() - 1)
    return [
        Block(first, min(largest, samples - first), device) for first in range(0, samples, largest)
    ]


@torch.no_grad()
def predict_at_mean(
    classifier: Classifier, distribution: WeightDistribution, features: Tensor
) -> Prediction:
    """The answer of the one classifier at the mean of the distribution."""
    probabilities = classifier.mean_logits(features, distribution).softmax(-1)
    return Prediction(probabilities, entropy_of(probabilities))


def entropy_of(probabilities: Tensor) -> Tensor:
    """-sum p log p over the last axis, in nats."""
    return torch.special.entr(probabilities).sum(-1)
