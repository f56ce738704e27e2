"""The task embedding network (TEN) of TADAM.

It looks at the mean of the task's class means and predicts a scale and a shift (FiLM) for the
channels of every convolution of the backbone.
"""

from collections.abc import Sequence
from typing import NamedTuple

import torch
from torch import Tensor, nn
from torch.nn import functional

from samovar.models.initialization import tadam


class Film(NamedTuple):
    """Scale and shift of one convolution's channels for each task: (T, c) each."""

    gamma: Tensor
    beta: Tensor

    def __call__(self, x: Tensor) -> Tensor:
        """Return (1 + gamma) * x + beta for images (T * n, c, H, W)."""
        # The images of a task follow each other.
        images_per_task = x.shape[0] // self.gamma.shape[0]
        gamma = self.gamma.repeat_interleave(images_per_task, 0)[:, :, None, None]
        beta = self.beta.repeat_interleave(images_per_task, 0)[:, :, None, None]
        return torch.addcmul(beta, x, 1 + gamma)


class TaskMLP(nn.Module):
    """TADAM's three dense layers, with a skip connection around all but the first.

    swish(W1 c), then swish(h + W2 h), then h + W3 h.
    """

    def __init__(self, inputs: int, width: int) -> None:
        super().__init__()
        first = nn.Linear(inputs, width)
        second = nn.Linear(width, width)
        third = nn.Linear(width, width)
        self.layers = nn.ModuleList([first, second, third])

    def forward(self, c: Tensor) -> Tensor:
        """Map task representations (T, d) to (T, width)."""
        h = functional.silu(self.layers[0](c))
        h = functional.silu(h + self.layers[1](h))
        return h + self.layers[2](h)


class TaskEmbedding(nn.Module):
    """For each convolution an MLP for gamma and one for beta, times scalars that start at zero.

    TEN is therefore the identity at the start. Its MLPs learn from the second update on, when the
    scalars are no longer zero.
    """

    initialization = staticmethod(tadam)

    def __init__(self, feature_dim: int, film_widths: Sequence[int]) -> None:
        super().__init__()
        self.gammas = nn.ModuleList(TaskMLP(feature_dim, width) for width in film_widths)
        self.betas = nn.ModuleList(TaskMLP(feature_dim, width) for width in film_widths)
        # Single scalars instead of one tensor, because gradients are clipped tensor by tensor.
        self.multipliers = nn.ParameterList(torch.zeros(()) for _ in range(2 * len(film_widths)))

    def forward(self, c: Tensor) -> list[Film]:
        """Predict the FiLM of each convolution from task representations c (T, d)."""
        films = []
        for position, (gamma, beta) in enumerate(zip(self.gammas, self.betas, strict=True)):
            gamma_0 = self.multipliers[2 * position]
            beta_0 = self.multipliers[2 * position + 1]
            films.append(Film(gamma_0 * gamma(c), beta_0 * beta(c)))
        return films
