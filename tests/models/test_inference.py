"""Inference networks have the stated sizes and skips, and their divergence is that of samples."""

from dataclasses import replace

import pytest
import torch
from helpers_models import FEATURES, RESNET, batch_for, count, noise_for, random_classifiers
from torch.nn import functional

from samovar.models.class_means import ClassMeans
from samovar.models.few_shot_model import FewShotModel
from samovar.models.inference import MLPInference, ResidualInference, with_counts
from samovar.settings.model import ModelSettings


@pytest.mark.parametrize("classifier", ["linear", "cosine"])
def test_two_networks_have_as_many_parameters_as_the_shared_one(classifier):
    settings = ModelSettings(backbone="conv5", size=84, classifier=classifier)
    shared, separate = FewShotModel(settings), FewShotModel(replace(settings, shared=False))
    both = count(separate.prior_network, separate.posterior_network)
    assert both == pytest.approx(count(shared.prior_network), rel=0.005)


def test_a_cosine_classifier_has_no_bias_networks():
    assert model_prior("cosine").biases is None
    assert model_prior("linear").biases is not None


def model_prior(classifier: str):
    s = ModelSettings(backbone="identity", size=6, classifier=classifier)
    batch = batch_for(s)
    return FewShotModel(s).task_prior(batch.support, batch.support_labels, 3)


def test_last_skip_is_a_choice():
    with_skip, without = (
        FewShotModel(ModelSettings(**{**vars(RESNET), "last_skip": on})) for on in (True, False)
    )
    x = torch.randn(1, 2, 32)
    torch.testing.assert_close(
        with_skip.prior_network(x)[0] - without.prior_network(x)[0], _before_last(without, x)
    )


def _before_last(model: FewShotModel, x: torch.Tensor) -> torch.Tensor:
    for layer in model.prior_network.weight_mean.layers[:2]:
        x = x + functional.silu(layer(x))
    return x


def test_divergence_against_monte_carlo():
    (q, _), (p, _) = (
        random_classifiers(seed=1, biases=True),
        random_classifiers(seed=2, biases=True),
    )
    g = torch.Generator().manual_seed(0)
    estimate = torch.zeros(2, 3)
    for ours, theirs in zip(q, p, strict=True):
        drawn = ours.mean + ours.stddev * torch.randn((200_000, *ours.mean.shape), generator=g)
        log_ratio = ours.log_prob(drawn) - theirs.log_prob(drawn)
        estimate += log_ratio.mean(0).sum(-1) if log_ratio.ndim == 4 else log_ratio.mean(0)
    torch.testing.assert_close(q.divergence(p), estimate, rtol=0.03, atol=0.05)


COUNTING = [
    replace(FEATURES, count_input=True),
    replace(FEATURES, count_input=True, inference="residual", classifier="cosine"),
]


@pytest.mark.parametrize("settings", COUNTING, ids=["mlp", "residual"])
def test_the_count_of_examples_is_seen_only_if_asked_for(settings):
    one = ClassMeans(torch.randn(1, 2, 6), torch.ones(1, 2))
    ten = ClassMeans(one.means * 10, one.counts * 10)
    for model, told in (
        (FewShotModel(settings), True),
        (FewShotModel(replace(settings, count_input=False)), False),
    ):
        few, many = model.prior(one).weights, model.prior(ten).weights
        assert torch.allclose(few.stddev, many.stddev, atol=1e-6) != told


def test_the_posterior_counts_support_and_query():
    model = FewShotModel(COUNTING[1])
    batch = batch_for(COUNTING[1])
    support = ClassMeans.of(batch.support, batch.support_labels, 3)
    query = ClassMeans.of(batch.query, batch.query_labels, 3)
    counts = support.counts + query.counts
    expected = model.prior_network(with_counts((support | query).means, counts)).distribution()
    torch.testing.assert_close(model.posterior(support, query).weights.mean, expected.weights.mean)


@pytest.mark.parametrize("settings", COUNTING, ids=["mlp", "residual"])
def test_networks_that_see_counts_learn_from_the_objective(settings):
    batch = batch_for(settings)
    model = FewShotModel(settings)
    model(batch, noise_for(batch)).loss.backward()
    for parameter in model.parameters():
        assert parameter.grad is not None
        assert parameter.grad.isfinite().all()


def test_vectors_have_the_inference_network_of_the_settings():
    assert isinstance(FewShotModel(FEATURES).prior_network, MLPInference)
    residual = FewShotModel(replace(FEATURES, inference="residual"))
    assert isinstance(residual.prior_network, ResidualInference)


def test_without_its_skip_the_variance_starts_where_the_settings_say():
    settings = replace(
        FEATURES, inference="residual", log_variance_skip=False, first_log_variance=-4.0
    )
    model = FewShotModel(settings)
    means = 1e-3 * torch.randn(1, 3, 6)
    prior = model.prior(ClassMeans(means, torch.ones(1, 3))).weights
    torch.testing.assert_close(prior.variance.log(), torch.full((1, 3, 6), -4.0), atol=0.01, rtol=0)
    torch.testing.assert_close(prior.mean, means, atol=0.01, rtol=0)
