"""Inference networks have the stated sizes and skips, and their divergence is that of samples."""

from dataclasses import replace

import pytest
import torch
from helpers_models import RESNET, batch_for, count, random_classifiers
from torch.nn import functional

from samovar.models.few_shot_model import FewShotModel
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
