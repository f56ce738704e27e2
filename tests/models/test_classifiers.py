"""Training and prediction sample the same logits, and distances have a gradient everywhere."""

import pytest
import torch
from helpers_models import random_classifiers

from samovar.models.classifiers import distance_logits, make_classifier
from samovar.models.noise import SampleBlock, WeightNoise


class GivenNoise:
    """Hands out the same numbers in training's order of axes and in prediction's."""

    def __init__(self, epsilon: torch.Tensor) -> None:
        self.epsilon = epsilon

    def logits(self, task, block, way):
        return self.epsilon[task, :, 0].T  # (L, Q, N) with one noise for all queries -> (N, L)

    def weights(self, task, block, way, dim):
        return WeightNoise(self.epsilon[task].transpose(0, 1))  # (L, N, d) -> (N, L, d)


@pytest.mark.parametrize("kind", ["linear", "cosine"])
def test_training_and_prediction_sample_the_same_logits(kind):
    distribution, features = random_classifiers(biases=kind == "linear")
    classifier = make_classifier(kind, 5.0)
    shape = classifier.noise_shape(7, features, distribution)
    epsilon = torch.randn(2, *shape)
    if kind == "linear":  # in prediction a sampled classifier is common to all queries
        epsilon = epsilon[:, :, :1].expand_as(epsilon)
    trained = classifier.sampled_logits(features, distribution, epsilon)  # (T, L, Q, N)
    sampler = classifier.predictive_sampler(features, distribution, GivenNoise(epsilon))
    block = SampleBlock(0, 7, torch.device("cpu"))
    for task in range(2):
        predicted = sampler(task, block, slice(1, 4))  # (N, L, Q)
        expected = trained[task, :, 1:4].permute(2, 0, 1)
        torch.testing.assert_close(predicted, expected, rtol=1e-4, atol=1e-5)


def test_prototypes_have_nothing_to_sample():
    prototypes = make_classifier("squared", 1.0)
    distribution, features = random_classifiers(biases=False)
    assert prototypes.deterministic
    with pytest.raises(TypeError, match="nothing to sample"):
        prototypes.sampled_logits(features, distribution, torch.zeros(1))


def test_distances_have_a_gradient_at_a_prototype_itself():
    """1-shot: a query may be the prototype; the root of zero must not give NaN."""
    features = torch.zeros(1, 1, 3, requires_grad=True)
    distance_logits(features, torch.zeros(1, 2, 3), 1.0, squared=False).sum().backward()
    assert torch.isfinite(features.grad).all()


@pytest.mark.parametrize("biases", [True, False])
def test_whole_linear_classifiers_are_what_their_logits_were_sampled_for(biases):
    distribution, features = random_classifiers(biases=biases)
    way, dim = distribution.weights.mean.shape[-2:]
    epsilon = torch.randn(2, 5, way, dim + 1)
    sampler = make_classifier("linear", 1.0).whole_sampler(
        features, distribution, GivenNoise(epsilon)
    )
    logits = sampler(1, SampleBlock(0, 5, torch.device("cpu")), slice(None))
    normal = distribution.weights
    weights = normal.mean[1] + normal.stddev[1] * epsilon[1, ..., :-1]  # (L, N, d)
    expected = features[1] @ weights.mT  # (L, Q, N)
    if distribution.biases is not None:
        offset = distribution.biases.mean[1] + distribution.biases.stddev[1] * epsilon[1, ..., -1]
        expected = expected + offset[:, None]
    torch.testing.assert_close(logits, expected.permute(2, 0, 1), rtol=1e-4, atol=1e-5)
