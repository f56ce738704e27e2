"""CONV-4 and CONV-5, VERSA's feature extractors."""

from collections.abc import Sequence

import torch
from torch import Tensor, nn
from torch.nn import functional

from samovar.models.dropout import dropout
from samovar.models.norm import NormMode, TaskBatchNorm


class Conv(nn.Module):
    """Blocks of conv 3x3 (no bias), batch norm (offset only), ReLU, dropout, max-pool 2x2; then flattened.

    CONV-5 rounds the pooled size down (84 -> 2: 256 features), CONV-4 up (28 or 32 -> 2: 256 features), as VERSA has
    them for miniImageNet and Omniglot.
    """

    def __init__(self, blocks: int, channels: int, size: int, width: int, rate: float, norm: NormMode) -> None:
        super().__init__()
        inputs = [channels, *[width] * (blocks - 1)]
        self.convolutions = nn.ModuleList(nn.Conv2d(i, width, 3, padding=1, bias=False) for i in inputs)
        self.norms = nn.ModuleList(TaskBatchNorm(width, norm, scale=False, momentum=0.1) for _ in inputs)
        self.round_up, self.rate = blocks == 4, rate
        for _ in inputs:
            size = -(-size // 2) if self.round_up else size // 2
        self.feature_dim = width * size * size

    def forward(self, x: Tensor, groups: int = 1, noise: Sequence[torch.Generator] | None = None) -> Tensor:
        """Images (groups * n, C, H, W) -> features (groups * n, d); dropout only with noise, one generator a group."""
        for convolution, norm in zip(self.convolutions, self.norms, strict=True):
            x = functional.relu(norm(convolution(x), groups))
            if self.rate and noise is not None:
                x = dropout(x, self.rate, noise)
            x = functional.max_pool2d(x, 2, ceil_mode=self.round_up)
        return x.flatten(1)
