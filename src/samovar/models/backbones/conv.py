"""CONV-4 and CONV-5, VERSA's feature extractors."""

from collections.abc import Sequence

import torch
from torch import Tensor, nn
from torch.nn import functional

from samovar.models.backbones.layers import NormMode, TaskBatchNorm, dropout


class Conv(nn.Module):
    """Blocks of conv 3x3 (no bias), batch norm (offset only), ReLU, dropout, max-pool 2x2; then flattened.

    CONV-5 rounds the pooled size down (84 -> 2: 256 features), CONV-4 up (28 or 32 -> 2: 256 features), as VERSA has
    them for miniImageNet and Omniglot.
    """

    def __init__(
        self, blocks: int, channels: int, size: int, width: int, rate: float, norm: NormMode
    ) -> None:
        super().__init__()
        inputs = [channels, *[width] * (blocks - 1)]
        self.convolutions = nn.ModuleList(
            nn.Conv2d(i, width, 3, padding=1, bias=False) for i in inputs
        )
        self.norms = nn.ModuleList(
            TaskBatchNorm(width, norm, scale=False, momentum=0.1) for _ in inputs
        )
        self.round_up, self.rate = blocks == 4, rate
        for _ in inputs:
            size = -(-size // 2) if self.round_up else size // 2
        self.feature_dim = width * size * size

    def forward(
        self, x: Tensor, groups: int = 1, noise: Sequence[torch.Generator] | None = None
    ) -> Tensor:
        """Images (groups * n, C, H, W) -> features (groups * n, d); dropout in training, one generator a group."""
        for convolution, norm in zip(self.convolutions, self.norms, strict=True):
            # ReLU, and a norm by running averages without scale, keep the order of numbers: pooled before them, the
            # same maxima come out, for a quarter of the work.
            x = convolution(x)
            if not self.training and norm.mode == "running":
                x = norm(self._pool(x), groups)
            else:
                x = norm(x, groups)
                x = dropout(x, self.rate, noise) if self.rate and noise is not None else x
                x = self._pool(x)
            x = functional.relu(x)
        return x.flatten(1)

    def _pool(self, x: Tensor) -> Tensor:
        return functional.max_pool2d(x, 2, ceil_mode=self.round_up)
