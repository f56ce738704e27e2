"""From a distribution over w to class probabilities: by samples, quasi-random samples, or the mean.

The predictive of Eq. (predictive_distribution) averages probabilities, not logits. Samples are
drawn in blocks whose size depends on the shape of the classifier alone, each with its own noise:
the prediction of a query does not depend on batches, processes or the other queries.

Tasks are worked on one at a time, and queries a slice at a time, so that memory stays bounded
however many samples, classes or queries there are.
"""

from collections.abc import Callable
from dataclasses import dataclass

import torch
from torch import Tensor

from samovar.models.classifiers import Classifier, LogitSampler
from samovar.models.inference import WeightDistribution
from samovar.models.noise import PredictionNoise, SampleBlock
from samovar.models.precision import full_precision

LARGEST_BLOCK = 2**22
"""Numbers of one task that are in memory at once."""


@dataclass(frozen=True)
class Prediction:
    """What is believed of each query.

    probabilities: (T, Q, N), the mean of softmax over the samples; spread: (T, Q, N), their
    standard deviation over the samples; entropy: (T, Q), of the probabilities; mutual_information:
    (T, Q), between label and weights, in nats. A deterministic classifier has no spread and no
    mutual information.
    """

    probabilities: Tensor
    entropy: Tensor
    spread: Tensor | None = None
    mutual_information: Tensor | None = None

    def of_queries(self, positions: Tensor) -> "Prediction":
        """Return the prediction of the queries at these positions, on the CPU."""
        spread = None
        if self.spread is not None:
            spread = self.spread[:, positions].cpu()
        information = None
        if self.mutual_information is not None:
            information = self.mutual_information[:, positions].cpu()
        return Prediction(
            self.probabilities[:, positions].cpu(),
            self.entropy[:, positions].cpu(),
            spread,
            information,
        )


@torch.no_grad()
def predict(
    classifier: Classifier,
    distribution: WeightDistribution,
    features: Tensor,
    samples: int,
    noise: PredictionNoise,
) -> Prediction:
    """Return the predictive of query features (T, Q, d) by L samples of w."""
    if classifier.deterministic:
        return predict_at_mean(classifier, distribution, features)
    make_sampler = classifier.predictive_sampler
    return _average_of(make_sampler, distribution, features, samples, noise)


@torch.no_grad()
def predict_by_whole_weights(
    classifier: Classifier,
    distribution: WeightDistribution,
    features: Tensor,
    samples: int,
    noise: PredictionNoise,
) -> Prediction:
    """Return the same predictive by samples of whole weights, for studies of their scatter."""
    if classifier.deterministic:
        return predict_at_mean(classifier, distribution, features)
    return _average_of(classifier.whole_sampler, distribution, features, samples, noise)


def _average_of(
    make_sampler: Callable[[Tensor, WeightDistribution, PredictionNoise], LogitSampler],
    distribution: WeightDistribution,
    features: Tensor,
    samples: int,
    noise: PredictionNoise,
) -> Prediction:
    with full_precision(features):
        sampler = make_sampler(features.float(), distribution, noise)
        tasks, way = distribution.weights.mean.shape[:2]
        shape = (tasks, way, features.shape[1])
        return average_samples(sampler, samples, shape, features.device)


def average_samples(
    sampler: LogitSampler, samples: int, shape: tuple[int, int, int], device: torch.device
) -> Prediction:
    """Return the predictive by L samples of the logits, of (T, N, Q) tasks, classes, queries."""
    averages = _Averages(shape, device)
    for block in sample_blocks(samples, sampler.numbers_per_sample, device):
        averages.add(sampler, block)
    return averages.prediction(samples)


@torch.no_grad()
def predict_at_mean(
    classifier: Classifier, distribution: WeightDistribution, features: Tensor
) -> Prediction:
    """Return the prediction of the one classifier at the mean of the distribution."""
    probabilities = classifier.mean_logits(features, distribution).softmax(-1)
    return Prediction(probabilities, entropy_of(probabilities))


def entropy_of(probabilities: Tensor) -> Tensor:
    """Return -sum p log p over the last axis, in nats."""
    return torch.special.entr(probabilities).sum(-1)


def sample_blocks(samples: int, numbers: int, device: torch.device) -> list[SampleBlock]:
    """Divide L samples into blocks of equal size, of which the last may be smaller.

    The size follows from the numbers that each sample keeps in memory, never from the queries. It
    is a power of two, since that many points of a Sobol sequence fill the space evenly.
    """
    # The largest power of two with which a block is within LARGEST_BLOCK, and at least one sample.
    largest = 1 << max(0, (LARGEST_BLOCK // numbers).bit_length() - 1)
    blocks = []
    for first in range(0, samples, largest):
        blocks.append(SampleBlock(first, min(largest, samples - first), device))
    return blocks


class _Averages:
    """Sums over samples: of probabilities and their squares (T, N, Q), and of entropies (T, Q)."""

    def __init__(self, shape: tuple[int, int, int], device: torch.device) -> None:
        self.tasks, self.way, self.queries = shape
        self.probabilities = torch.zeros(*shape, device=device)
        self.squares = torch.zeros_like(self.probabilities)
        self.entropies = torch.zeros_like(self.probabilities[:, 0])

    def add(self, sampler: LogitSampler, block: SampleBlock) -> None:
        """Add a block of samples."""
        at_once = max(1, LARGEST_BLOCK // (self.way * block.count))
        for task in range(self.tasks):
            for first in range(0, self.queries, at_once):
                queries = slice(first, first + at_once)
                logits = sampler(task, block, queries)
                # Over the first axis of (N, L, Q): N is small, and short rows would be slow.
                log_probabilities = logits.log_softmax(0)
                probabilities = log_probabilities.exp()
                # The sum of squares over the samples, without a tensor of squares.
                norms = torch.linalg.vector_norm(probabilities, dim=1)
                self.probabilities[task, :, queries] += probabilities.sum(1)
                self.squares[task, :, queries] += norms.square()
                self.entropies[task, queries] -= log_probabilities.mul_(probabilities).sum((0, 1))

    def prediction(self, samples: int) -> Prediction:
        """Divide the sums by the number of samples."""
        mean = (self.probabilities / samples).mT.contiguous()
        entropy = entropy_of(mean)
        variance = self.squares.mT / samples - mean.square()
        # I(y; w) = H(mean of p) - mean of H(p): how much the sampled classifiers disagree.
        information = entropy - self.entropies / samples
        # Rounding may leave tiny negative numbers where there is no variance.
        spread = variance.clamp(min=0).sqrt()
        return Prediction(mean, entropy, spread, information.clamp(min=0))
