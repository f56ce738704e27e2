"""The task embedding network (TEN): FiLM of every convolution from the mean of the task's class prototypes."""

from collections.abc import Sequence
from typing import NamedTuple

import torch
from torch import Tensor, nn
from torch.nn import functional


class Film(NamedTuple):
    """Scale and shift of one convolution's channels, for each task: (T, c) each."""

    gamma: Tensor
    beta: Tensor

    def __call__(self, x: Tensor) -> Tensor:
        """(1 + gamma) * x + beta for images (T * n, c, H, W)."""
        images = x.shape[0] // self.gamma.shape[0]
        gamma, beta = (each.repeat_interleave(images, 0)[:, :, None, None] for each in self)
        return torch.addcmul(beta, x, 1 + gamma)


class TaskMLP(nn.Module):
    """swish(W1 c), then swish(h + W2 h), then h + W3 h: TADAM's three dense layers, a skip around all but the first."""

    def __init__(self, inputs: int, width: int) -> None:
        super().__init__()
        self.layers = nn.ModuleList(
            [nn.Linear(inputs, width), nn.Linear(width, width), nn.Linear(width, width)]
        )

    def forward(self, c: Tensor) -> Tensor:
        """Task representations (T, d) -> (T, width)."""
        h = functional.silu(self.layers[0](c))
        h = functional.silu(h + self.layers[1](h))
        return h + self.layers[2](h)


class TaskEmbedding(nn.Module):
    """For each of the twelve convolutions an MLP for gamma and one for beta, times scalars that start at zero.

    So TEN is the identity at the start; its MLPs learn from the second update on, when the scalars have moved.
    """

    def __init__(self, feature_dim: int, block_widths: Sequence[int]) -> None:
        super().__init__()
        widths = [width for width in block_widths for _ in range(3)]
        self.gammas = nn.ModuleList(TaskMLP(feature_dim, width) for width in widths)
        self.betas = nn.ModuleList(TaskMLP(feature_dim, width) for width in widths)
        # 24 scalars, not one tensor: gradients are clipped by tensor
        self.multipliers = nn.ParameterList(torch.zeros(()) for _ in range(2 * len(widths)))

    def forward(self, c: Tensor) -> list[Film]:
        """Task representations (T, d), means over classes of the support's class means -> FiLM of each convolution."""
        scales = list(self.multipliers)
        layers = zip(scales[0::2], self.gammas, scales[1::2], self.betas, strict=True)
        return [
            Film(gamma_0 * gamma(c), beta_0 * beta(c)) for gamma_0, gamma, beta_0, beta in layers
        ]
