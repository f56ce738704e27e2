"""The seed decides the first values, and the global random state is left alone."""

import pytest
import torch
from helpers_models import TEN

from samovar.models.few_shot_model import FewShotModel
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
