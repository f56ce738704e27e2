"""From a distribution over w to class probabilities: samples, quasi-random samples, or the mean.

The predictive of Eq. (predictive_distribution) averages probabilities, not logits. Samples are drawn in blocks whose
size depends on the shape of a task alone, each from its own noise: the answer does not depend on batches or processes.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor
from torch.quasirandom import SobolEngine

from samovar.models.heads import Classifier
from samovar.models.inference import WeightDistribution
from samovar.noise import generator, torch_generator

BLOCK = 2**22
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


@dataclass(frozen=True)
class PredictiveNoise:
    """Noise of prediction as a function of (seed, task, block); quasi-random points are shifted for each task."""

    seed: int
    tasks: Sequence[int]
    quasi: bool = False

    def blocks(self, classifier: Classifier, shape: tuple[int, int, int], device: torch.device) -> "_Blocks":
        """The source of noise blocks for tasks of this shape, (L, Q, N) or (L, N, d)."""
        return _QuasiBlocks(self, classifier, shape, device) if self.quasi else _Blocks(self, classifier, shape, device)


class _Blocks:
    def __init__(
        self, noise: PredictiveNoise, classifier: Classifier, shape: tuple[int, int, int], device: torch.device
    ):
        self.noise, self.classifier, self.shape, self.device = noise, classifier, shape, device

    def draw(self, block: int, count: int) -> Tensor:
        """Noise (T, count, ...) of a block; each task has its own."""
        return torch.stack(
            [
                torch.randn(
                    (count, *self.shape[1:]),
                    generator=torch_generator(self.noise.seed, "predictive", task, block, device=self.device),
                    device=self.device,
                )
                for task in self.noise.tasks
            ]
        )


class _QuasiBlocks(_Blocks):
    """Scrambled Sobol points through the normal quantile function.

    Linear classifier: one sequence of dimension N for the logits of every query. Cosine: one sequence of dimension d
    for the weights of each class, since torch's generator stops at 21,201 dimensions. The points of each class are
    shuffled within a block (a power of two of them, which by itself fills the space evenly): point l of two scrambled
    sequences is the same point in disguise, and classifiers made of such pairs would not be independent across classes.
    Every task shifts the common points by an amount of its own, modulo 1: with one set for all, its error would not
    average out over tasks.
    """

    def __init__(
        self, noise: PredictiveNoise, classifier: Classifier, shape: tuple[int, int, int], device: torch.device
    ):
        super().__init__(noise, classifier, shape, device)
        sequences = 1 if classifier.kind == "linear" else shape[1]
        seeds = generator(noise.seed, "quasi-random").integers(2**31, size=sequences)
        self.engines = [SobolEngine(shape[2], scramble=True, seed=int(seed)) for seed in seeds]
        drawn = [
            generator(noise.seed, "quasi-random shift", task).random((1, sequences, shape[2])) for task in noise.tasks
        ]
        self.shifts = torch.from_numpy(np.stack(drawn)).float()

    def draw(self, block: int, count: int) -> Tensor:
        """Noise (T, count, 1 or N, N or d); blocks must be drawn in order."""
        order = generator(self.noise.seed, "quasi-random order", block)
        points = torch.stack([engine.draw(count)[order.permutation(count)] for engine in self.engines], 1)
        uniform = (points + self.shifts).remainder(1.0)
        tiny = torch.finfo(torch.float32).eps
        return torch.special.ndtri(uniform.clamp(tiny / 2, 1 - tiny)).to(self.device)


@torch.no_grad()
def predict(
    classifier: Classifier, distribution: WeightDistribution, features: Tensor, samples: int, noise: PredictiveNoise
) -> Prediction:
    """The predictive of query features (T, Q, d) under a distribution over w, by L samples."""
    if classifier.deterministic:
        return predict_at_mean(classifier, distribution, features)
    shape = classifier.noise_shape(samples, features, distribution)
    queries, classes = features.shape[1], shape[1] if classifier.kind == "cosine" else shape[2]
    largest = 1 << max(0, (BLOCK // max(shape[1] * shape[2], queries * classes)).bit_length() - 1)  # a power of two
    blocks = noise.blocks(classifier, shape, features.device)
    total = torch.zeros(len(features), queries, classes, device=features.device)
    squares, entropies = torch.zeros_like(total), torch.zeros_like(total[..., 0])
    for block, first in enumerate(range(0, samples, largest)):
        epsilon = blocks.draw(block, min(largest, samples - first))
        log_probabilities = classifier.sampled_logits(features, distribution, epsilon).log_softmax(-1)
        probabilities = log_probabilities.exp()
        total += probabilities.sum(1)
        squares += probabilities.square().sum(1)
        entropies -= (probabilities * log_probabilities).sum((1, 3))
    mean = total / samples
    entropy = entropy_of(mean)
    spread = (squares / samples - mean.square()).clamp(min=0).sqrt()
    return Prediction(mean, entropy, spread, (entropy - entropies / samples).clamp(min=0))


@torch.no_grad()
def predict_at_mean(classifier: Classifier, distribution: WeightDistribution, features: Tensor) -> Prediction:
    """The answer of the one classifier at the mean of the distribution."""
    probabilities = classifier.mean_logits(features, distribution).softmax(-1)
    return Prediction(probabilities, entropy_of(probabilities))


def entropy_of(probabilities: Tensor) -> Tensor:
    """-sum p log p over the last axis, in nats."""
    return torch.special.entr(probabilities).sum(-1)
