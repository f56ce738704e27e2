"""TADAM's ResNet-12: four blocks of three convolutions with swish and a projected shortcut."""

from collections.abc import Sequence

import torch
from torch import Tensor, nn
from torch.nn import functional

from samovar.models.backbones.base import Backbone
from samovar.models.backbones.layers import NormMode, TaskBatchNorm
from samovar.models.initialization import tadam
from samovar.models.task_embedding import Film

CONVOLUTIONS = 3
"""Convolutions in a block, without the shortcut's."""
MOMENTUM = 0.05
"""TADAM's 0.95, which in TensorFlow is the share of the old average."""


class Block(nn.Module):
    """conv-norm-(FiLM)-swish twice, conv-norm-(FiLM), plus a projected input; swish; max-pool."""

    def __init__(self, inputs: int, outputs: int, norm: NormMode, pool: bool) -> None:
        super().__init__()
        self.convolutions = nn.ModuleList()
        self.norms = nn.ModuleList()
        for channels in (inputs, outputs, outputs):
            self.convolutions.append(nn.Conv2d(channels, outputs, 3, padding=1, bias=False))
            self.norms.append(TaskBatchNorm(outputs, norm, scale=True, momentum=MOMENTUM))
        self.shortcut = nn.Conv2d(inputs, outputs, 1, bias=False)
        self.shortcut_norm = TaskBatchNorm(outputs, norm, scale=True, momentum=MOMENTUM)
        self.pool = pool

    def forward(self, x: Tensor, groups: int, films: Sequence[Film] | None) -> Tensor:
        """Map (groups * n, inputs, H, W) to (groups * n, outputs, H, W); pooling halves H and W."""
        h = x
        layers = zip(self.convolutions, self.norms, strict=True)
        for position, (convolution, norm) in enumerate(layers):
            h = norm(convolution(h), groups)
            if films is not None:  # after the affine batch norm, and never on the shortcut
                h = films[position](h)
            if position < CONVOLUTIONS - 1:  # the last one is activated after the shortcut
                h = functional.silu(h)
        h = functional.silu(h + self.shortcut_norm(self.shortcut(x), groups))
        if self.pool:
            h = functional.max_pool2d(h, 2, ceil_mode=True)
        return h


class ResNet12(Backbone):
    """Blocks of width x 1, 2, 4, 8 channels, then the mean over all positions.

    At width 64 there are 512 features.
    """

    initialization = staticmethod(tadam)

    def __init__(self, channels: int, width: int, pools: int, norm: NormMode) -> None:
        super().__init__()
        widths = [width, 2 * width, 4 * width, 8 * width]
        self.blocks = nn.ModuleList()
        inputs = channels
        for position, outputs in enumerate(widths):
            self.blocks.append(Block(inputs, outputs, norm, pool=position < pools))
            inputs = outputs
        self.feature_dim = widths[-1]
        self.film_widths = [block_width for block_width in widths for _ in range(CONVOLUTIONS)]

    def forward(
        self,
        x: Tensor,
        groups: int = 1,
        films: Sequence[Film] | None = None,
        noise: Sequence[torch.Generator] | None = None,
    ) -> Tensor:
        """Map images (groups * n, C, H, W) to features (groups * n, d).

        There is a film for each of the twelve convolutions, in order.
        """
        del noise  # TADAM's ResNet-12 has no dropout
        for position, block in enumerate(self.blocks):
            block_films = None
            if films is not None:
                first = CONVOLUTIONS * position
                block_films = films[first : first + CONVOLUTIONS]
            x = block(x, groups, block_films)
        return x.mean((2, 3))
