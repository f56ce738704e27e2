"""ResNet-12 has three or four poolings."""

import pytest
import torch

from samovar.models.few_shot_model import FewShotModel
from samovar.settings.model import ModelSettings


@pytest.mark.parametrize(("pools", "size"), [(3, 11), (4, 6)])
def test_three_or_four_poolings_of_resnet(pools, size):
    model = FewShotModel(ModelSettings(backbone="resnet12", size=84, width=2, pools=pools))
    h = torch.randn(1, 3, 84, 84)
    for block in model.backbone.blocks:
        h = block(h, 1, None)
    assert h.shape == (1, 16, size, size)
