"""ResNet-12 is TADAM's blocks written out, with three or four poolings."""

import pytest
import torch
from torch.nn import functional

from samovar.models.backbones.resnet12 import ResNet12
from samovar.models.few_shot_model import FewShotModel
from samovar.models.task_embedding import Film
from samovar.settings.model import ModelSettings


@pytest.mark.parametrize(("pools", "size"), [(3, 11), (4, 6)])
def test_three_or_four_poolings_of_resnet(pools, size):
    model = FewShotModel(ModelSettings(backbone="resnet12", size=84, width=2, pools=pools))
    h = torch.randn(1, 3, 84, 84)
    for block in model.backbone.blocks:
        h = block(h, 1, None)
    assert h.shape == (1, 16, size, size)


def test_the_features_are_tadams_blocks_written_out_and_averaged_over_positions():
    """The film comes after the norm and before swish; the shortcut has neither film nor swish."""
    torch.manual_seed(0)
    resnet = ResNet12(channels=3, width=2, pools=3, norm="running").eval()
    films = [Film(torch.randn(2, width), torch.randn(2, width)) for width in resnet.film_widths]
    images = torch.randn(4, 3, 16, 16)  # two tasks of two images
    remaining = iter(films)
    h = images
    for number, block in enumerate(resnet.blocks):
        shortcut = block.shortcut_norm(block.shortcut(h), 2)
        for layer in range(3):
            h = next(remaining)(block.norms[layer](block.convolutions[layer](h), 2))
            if layer < 2:
                h = h * h.sigmoid()
        h = h + shortcut
        h = h * h.sigmoid()
        if number < 3:
            h = functional.max_pool2d(h, 2, ceil_mode=True)
    assert next(remaining, None) is None, "twelve films for twelve convolutions"
    features = resnet(images, 2, films)
    torch.testing.assert_close(features, h.mean((2, 3)), rtol=1e-4, atol=1e-5)
    assert features.shape == (4, 16)
