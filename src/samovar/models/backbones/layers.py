"""Layers of the backbones: batch norm as a choice, and dropout whose masks come from a given noise."""

from collections.abc import Sequence
from typing import Literal

import torch
from torch import Tensor, nn
from torch.nn import functional

NormMode = Literal["running", "episode"]


class TaskBatchNorm(nn.Module):
    """Normalises images (groups * n, C, H, W), where each group of n images is one task's support or query set.

    `running`: statistics of the whole batch in training, running averages at test. `episode`: statistics of each
    group, in training and at test, for all groups at once; running averages are kept on the side, so that the same
    model can be evaluated both ways. VERSA learns the offset but no scale.
    """

    running_mean: Tensor
    running_var: Tensor

    def __init__(
        self, channels: int, mode: NormMode, *, scale: bool, momentum: float, eps: float = 1e-5
    ) -> None:
        super().__init__()
        self.mode, self.momentum, self.eps = mode, momentum, eps
        self.weight = nn.Parameter(torch.ones(channels)) if scale else None
        self.bias = nn.Parameter(torch.zeros(channels))
        self.register_buffer("running_mean", torch.zeros(channels))
        self.register_buffer("running_var", torch.ones(channels))

    def forward(self, x: Tensor, groups: int) -> Tensor:
        """(groups * n, C, H, W) -> the same shape."""
        if self.mode == "running":
            return functional.batch_norm(
                x,
                self.running_mean,
                self.running_var,
                self.weight,
                self.bias,
                self.training,
                self.momentum,
                self.eps,
            )
        grouped = x.unflatten(0, (groups, -1))  # (G, n, C, H, W)
        variance, mean = torch.var_mean(grouped, (1, 3, 4), correction=0, keepdim=True)
        if self.training:
            self._keep(mean, variance, count=grouped[:, :, 0].numel() // groups)
        scale = (variance + self.eps).rsqrt()
        if self.weight is not None:
            scale = scale * self.weight.view(1, 1, -1, 1, 1)
        shift = self.bias.view(1, 1, -1, 1, 1) - mean * scale
        return torch.addcmul(shift, grouped, scale).flatten(0, 1)

    @torch.no_grad()
    def _keep(self, mean: Tensor, variance: Tensor, count: int) -> None:
        """Running averages of mean and unbiased variance over all images: within the groups plus between them."""
        total = count * mean.shape[0]
        pooled = (variance.mean(0) + mean.var(0, correction=0)) * (total / max(1, total - 1))
        self.running_mean.lerp_(mean.mean(0).flatten().to(self.running_mean.dtype), self.momentum)
        self.running_var.lerp_(pooled.flatten().to(self.running_var.dtype), self.momentum)


def norm_modes(module: nn.Module) -> set[str]:
    """The modes of all norms of a model as they are now."""
    return {part.mode for part in module.modules() if isinstance(part, TaskBatchNorm)}


def set_norm(module: nn.Module, mode: NormMode) -> None:
    """Evaluate a model the other way."""
    for part in module.modules():
        if isinstance(part, TaskBatchNorm):
            part.mode = mode


class SynchronizedBatchNorm(nn.SyncBatchNorm):
    """Running norm whose training statistics are those of all GPUs; names of tensors as in TaskBatchNorm."""

    mode: NormMode = "running"

    def __init__(self, part: TaskBatchNorm) -> None:
        super().__init__(len(part.bias), part.eps, part.momentum, affine=False)
        self.register_buffer("num_batches_tracked", torch.tensor(0), persistent=False)
        if part.weight is None:
            del self.weight
            self.register_buffer("weight", torch.ones_like(part.bias), persistent=False)
        else:
            self.weight = part.weight
        self.bias = part.bias
        self.running_mean, self.running_var = part.running_mean, part.running_var

    def forward(self, x: Tensor, groups: int = 1) -> Tensor:
        """As TaskBatchNorm; the groups play no part."""
        del groups
        return super().forward(x)


def synchronize(module: nn.Module) -> None:
    """Replace running norms by ones that share statistics between GPUs (torch has that for GPUs only)."""
    for name, part in module.named_children():
        if isinstance(part, TaskBatchNorm) and part.mode == "running":
            setattr(module, name, SynchronizedBatchNorm(part))
        else:
            synchronize(part)


def dropout(x: Tensor, rate: float, generators: Sequence[torch.Generator]) -> Tensor:
    """Element-wise inverted dropout of (groups * n, ...), each group of images by its own generator."""
    keep = torch.empty(
        x.shape, dtype=torch.bool, device=x.device
    )  # masks do not depend on x's memory order
    for mask, generator in zip(keep.unflatten(0, (len(generators), -1)), generators, strict=True):
        mask.bernoulli_(1 - rate, generator=generator)
    return x * keep * (1 / (1 - rate))
