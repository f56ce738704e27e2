"""The predictive is the average over explicitly sampled classifiers, within its bounds and its
memory.
"""

import math
import subprocess
import sys

import pytest
import torch
from helpers import PEAK
from helpers_models import random_classifiers
from hypothesis import given, settings
from hypothesis import strategies as st
from torch.distributions import Normal

from samovar.models.classifiers import (
    Classifier,
    CosineClassifier,
    cosine_logits,
    linear_logits,
    make_classifier,
)
from samovar.models.inference import WeightDistribution
from samovar.prediction.predictive import predict, predict_at_mean
from samovar.prediction.sampling_noise import PredictiveNoise

LINEAR, COSINE = make_classifier("linear", 1.0), make_classifier("cosine", 5.0)


def brute_force(
    classifier: Classifier,
    distribution: WeightDistribution,
    features: torch.Tensor,
    samples: int,
    seed: int = 1,
):
    """Softmax of explicitly sampled classifiers, (L, T, Q, N)."""
    g = torch.Generator().manual_seed(seed)
    shape = (samples, *distribution.weights.mean.shape)
    weights = distribution.weights.mean + distribution.weights.stddev * torch.randn(
        shape, generator=g
    )
    if isinstance(classifier, CosineClassifier):
        return cosine_logits(features, weights, classifier.alpha).softmax(-1)
    biases = distribution.biases
    if biases is not None:
        drawn = biases.mean + biases.stddev * torch.randn(
            (samples, *biases.mean.shape), generator=g
        )
    return linear_logits(features, weights, drawn if biases is not None else None).softmax(-1)


@pytest.mark.parametrize("quasi", [False, True])
@pytest.mark.parametrize("classifier", [LINEAR, COSINE], ids=["linear", "cosine"])
@pytest.mark.parametrize("biases", [True, False])
def test_predictive_is_the_average_over_sampled_classifiers(classifier, biases, quasi):
    """For the linear classifier this compares sampled logits with sampled weights."""
    distribution, features = random_classifiers(biases=biases and classifier is LINEAR)
    samples = 4096 if quasi else 40_000
    prediction = predict(
        classifier, distribution, features, samples, PredictiveNoise(0, range(2), quasi=quasi)
    )
    sampled = brute_force(classifier, distribution, features, 40_000)
    expected = sampled.mean(0)
    torch.testing.assert_close(prediction.probabilities, expected, rtol=0, atol=0.012)
    torch.testing.assert_close(prediction.probabilities.sum(-1), torch.ones(2, 5))
    torch.testing.assert_close(prediction.spread, sampled.std(0), rtol=0, atol=0.012)
    entropy, of_each = (
        torch.special.entr(expected).sum(-1),
        torch.special.entr(sampled).sum(-1).mean(0),
    )
    torch.testing.assert_close(prediction.entropy, entropy, rtol=0, atol=0.02)
    torch.testing.assert_close(prediction.mutual_information, entropy - of_each, rtol=0, atol=0.02)
    assert prediction.mutual_information.max() > 0.1, "or the comparison would say nothing"


def test_quasi_random_samples_are_nearer_the_truth_than_as_many_plain_ones():
    for classifier in (LINEAR, COSINE):
        distribution, features = random_classifiers(biases=False)
        truth = predict(
            classifier, distribution, features, 2**15, PredictiveNoise(9, range(2), quasi=True)
        ).probabilities

        def error(
            quasi: bool,
            classifier=classifier,
            distribution=distribution,
            features=features,
            truth=truth,
        ) -> float:
            runs = [
                predict(
                    classifier,
                    distribution,
                    features,
                    128,
                    PredictiveNoise(seed, range(2), quasi=quasi),
                ).probabilities
                for seed in range(10)
            ]
            return (torch.stack(runs) - truth).square().mean().sqrt().item()

        assert error(quasi=True) < 0.6 * error(quasi=False)


def test_probabilities_are_averaged_and_not_logits():
    """Class 0 has logit 0; class 1 has logit -1 on average but with standard deviation 20.

    Averaged logits say class 0 with 73 %; averaged probabilities are near one half (0.480); the
    log-mean-exp of raw logits, as some codes have it, says class 1 with certainty.
    """
    mean, scale = torch.tensor([[[0.0], [-1.0]]]), torch.tensor([[[1e-9], [20.0]]])
    distribution, features = WeightDistribution(Normal(mean, scale)), torch.ones(1, 1, 1)
    prediction = predict(LINEAR, distribution, features, 2**15, PredictiveNoise(0, range(1)))
    assert prediction.probabilities[0, 0, 1].item() == pytest.approx(0.480, abs=0.01)
    at_mean = predict_at_mean(LINEAR, distribution, features).probabilities
    assert at_mean[0, 0, 1].item() == pytest.approx(1 / (1 + math.e), abs=1e-5)


@given(st.integers(0, 1000), st.sampled_from([LINEAR, COSINE]))
@settings(max_examples=20)
def test_uncertainty_lies_within_its_bounds(seed, classifier):
    distribution, features = random_classifiers(seed)
    prediction = predict(classifier, distribution, features, 64, PredictiveNoise(seed, range(2)))
    assert (prediction.mutual_information >= 0).all()
    assert (prediction.mutual_information <= prediction.entropy + 1e-6).all()
    assert (prediction.entropy <= math.log(3) + 1e-6).all()
    assert (prediction.spread <= 0.5 + 1e-6).all()


@pytest.mark.parametrize("classifier", [LINEAR, COSINE], ids=["linear", "cosine"])
def test_without_variance_it_is_the_classifier_at_the_mean(classifier):
    distribution, features = random_classifiers(scale=1e-7, biases=classifier is LINEAR)
    sampled = predict(classifier, distribution, features, 16, PredictiveNoise(0, range(2)))
    at_mean = predict_at_mean(classifier, distribution, features)
    torch.testing.assert_close(sampled.probabilities, at_mean.probabilities, rtol=1e-4, atol=1e-5)
    assert sampled.mutual_information.max() < 1e-5
    assert sampled.spread.max() < 1e-3


@pytest.mark.parametrize("quasi", [False, True])
@pytest.mark.parametrize(("classifier", "way", "samples"), [(LINEAR, 20, 1000), (COSINE, 200, 128)])
def test_a_querys_answer_does_not_depend_on_the_other_queries(classifier, way, samples, quasi):
    """Also where all of them together are too many for one block of memory."""
    distribution, features = random_classifiers(
        tasks=1, way=way, d=64, queries=410, biases=classifier is LINEAR
    )
    noise = PredictiveNoise(0, [3], quasi=quasi)
    together = predict(classifier, distribution, features, samples, noise)
    alone = predict(classifier, distribution, features[:, 7:8], samples, noise)
    torch.testing.assert_close(
        together.probabilities[:, 7:8], alone.probabilities, rtol=1e-4, atol=1e-6
    )
    torch.testing.assert_close(together.spread[:, 7:8], alone.spread, rtol=1e-3, atol=1e-5)


def test_a_tasks_answer_does_not_depend_on_the_batch_it_is_in():
    distribution, features = random_classifiers(tasks=3)
    together = predict(LINEAR, distribution, features, 300, PredictiveNoise(0, [7, 8, 9]))
    weights, biases = (Normal(normal.mean[1:2], normal.stddev[1:2]) for normal in distribution)
    alone = predict(
        LINEAR, WeightDistribution(weights, biases), features[1:2], 300, PredictiveNoise(0, [8])
    )
    torch.testing.assert_close(together.probabilities[1:2], alone.probabilities)


def test_deterministic_classifiers_have_no_mutual_information():
    prototypes, features = torch.randn(2, 3, 4), torch.randn(2, 5, 4)
    distribution = WeightDistribution(Normal(prototypes, torch.zeros(2, 3, 4), validate_args=False))
    for kind, power in (("euclidean", 1), ("squared", 2)):
        prediction = predict(
            make_classifier(kind, 2.0), distribution, features, 100, PredictiveNoise(0, range(2))
        )
        distances = (features[:, :, None] - prototypes[:, None]).norm(dim=-1)
        torch.testing.assert_close(prediction.probabilities, (-2 * distances**power).softmax(-1))
        assert prediction.mutual_information is None


def test_biases_shift_the_logits():
    distribution, features = random_classifiers()
    shifted = WeightDistribution(
        distribution.weights,
        Normal(distribution.biases.mean + torch.tensor([0.0, 50, 0]), distribution.biases.stddev),
    )
    prediction = predict(LINEAR, shifted, features, 50, PredictiveNoise(0, range(2)))
    assert (prediction.probabilities.argmax(-1) == 1).all()


@pytest.mark.slow
def test_memory_stays_bounded():
    """1000 classes x 1000 queries within 2 GB in all; 40 samples are ten blocks, and more only
    repeat a block.
    """
    script = f"""{PEAK}
import torch
from torch.distributions import Normal
from samovar.models.classifiers import make_classifier
from samovar.models.inference import WeightDistribution
from samovar.prediction.predictive import predict
from samovar.prediction.sampling_noise import PredictiveNoise
distribution = WeightDistribution(Normal(torch.randn(1, 1000, 64), torch.ones(1, 1000, 64)))
for kind in ("linear", "cosine"):
    noise = PredictiveNoise(0, range(1))
    predict(make_classifier(kind, 5.0), distribution, torch.randn(1, 1000, 64), 40, noise)
print(peak())
"""
    run = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert int(run.stdout) < 2_000_000, "kilobytes"
