"""CONV-4 and CONV-5, VERSA's feature extractors."""

from collections.abc import Sequence

import torch
from torch import Tensor, nn
from torch.nn import functional

from samovar.models.backbones.base import Backbone
from samovar.models.backbones.layers import NormMode, TaskBatchNorm, dropout
from samovar.models.initialization import versa
from samovar.models.task_embedding import Film


class Conv(Backbone):
    """Blocks of conv 3x3 (no bias), batch norm (offset only), ReLU, dropout, max-pool 2x2.

    CONV-5 rounds the pooled size down (84 -> 2: 256 features), CONV-4 rounds it up (28 or 32 -> 2:
    256 features), as VERSA does for miniImageNet and Omniglot. ReLU is computed last in each block:
    it commutes with dropout, which multiplies by no negative number, and with the maximum, so the
    result is the same to the bit and ReLU has a quarter of the numbers to go through.
    """

    initialization = staticmethod(versa)

    def __init__(
        self,
        blocks: int,
        *,
        channels: int,
        size: int,
        width: int,
        dropout_rate: float,
        norm: NormMode,
    ) -> None:
        super().__init__()
        self.round_up = blocks == 4
        self.rate = dropout_rate
        self.convolutions = nn.ModuleList()
        self.norms = nn.ModuleList()
        inputs = channels
        for _ in range(blocks):
            self.convolutions.append(nn.Conv2d(inputs, width, 3, padding=1, bias=False))
            # VERSA has no running averages, so the momentum is torch's default.
            self.norms.append(TaskBatchNorm(width, norm, scale=False, momentum=0.1))
            inputs = width
            size = self._pooled_size(size)
        self.feature_dim = width * size * size

    def forward(
        self,
        x: Tensor,
        groups: int = 1,
        films: Sequence[Film] | None = None,
        noise: Sequence[torch.Generator] | None = None,
    ) -> Tensor:
        """Map images (groups * n, C, H, W) to features (groups * n, d)."""
        del films  # the settings refuse TEN for CONV
        for convolution, norm in zip(self.convolutions, self.norms, strict=True):
            x = convolution(x)
            if not self.training and norm.mode == "running":
                # A norm by running averages without a scale keeps the order of numbers, so pooling
                # before it gives the same maxima, for a quarter of the work. In training it would
                # change the statistics.
                x = norm(self._pool(x), groups)
            else:
                x = norm(x, groups)
                if self.rate and noise is not None:
                    x = dropout(x, self.rate, noise)
                x = self._pool(x)
            x = functional.relu(x)
        return x.flatten(1)

    def _pool(self, x: Tensor) -> Tensor:
        return functional.max_pool2d(x, 2, ceil_mode=self.round_up)

    def _pooled_size(self, size: int) -> int:
        if self.round_up:
            return -(-size // 2)  # division that rounds up
        return size // 2
