"""The seed decides the first values, and the global random state is left alone."""

import math

import pytest
import torch
from helpers_models import TEN
from torch import nn

from samovar.models.few_shot_model import FewShotModel
from samovar.models.initialization import as_built, initialize
from samovar.settings.model import ModelSettings


def test_the_seed_decides_the_first_values_and_the_global_state_is_left_alone():
    state = torch.random.get_rng_state()
    first, again, other = (FewShotModel(TEN, seed=seed) for seed in (0, 0, 1))
    assert torch.equal(torch.random.get_rng_state(), state)
    for a, b, c in zip(first.parameters(), again.parameters(), other.parameters(), strict=True):
        assert torch.equal(a, b)
        drawn = a.ndim > 1
        assert torch.equal(a, c) != drawn
    resnet = FewShotModel(ModelSettings(backbone="resnet12", width=32, classifier="cosine"))
    weight = resnet.backbone.blocks[2].convolutions[1].weight
    assert weight.var().item() == pytest.approx(0.2 / (128 * 9), rel=0.02)
    conv = FewShotModel(ModelSettings(backbone="conv4")).backbone.convolutions[1].weight
    assert conv.var().item() == pytest.approx(2 / (2 * 64 * 9), rel=0.03)


def test_versas_dense_layers_have_small_normal_biases_and_weights_within_two_deviations():
    layer = FewShotModel(ModelSettings(backbone="conv4")).prior_network.weight_mean[0]
    std = math.sqrt(1.3 * 2 / (256 + 256))
    assert layer.weight.abs().max().item() <= 2 * std
    assert layer.weight.var().item() == pytest.approx(2 / (256 + 256), rel=0.03)
    assert layer.bias.std().item() == pytest.approx(0.001, rel=0.2)


def test_the_auxiliary_classifier_is_xavier_uniform_without_bias():
    settings = ModelSettings(backbone="conv4", auxiliary_classes=64)
    head = FewShotModel(settings).auxiliary_head
    bound = math.sqrt(6 / (256 + 64))
    assert head.weight.abs().max().item() == pytest.approx(bound, rel=0.01)
    assert head.weight.var().item() == pytest.approx(bound**2 / 3, rel=0.03)
    assert not head.bias.any()


def test_a_part_may_keep_the_values_it_was_built_with():
    part = nn.Sequential(nn.Linear(3, 2))
    part.initialization = as_built
    before = part[0].weight.clone()
    initialize(part, seed=0)
    assert torch.equal(part[0].weight, before)
