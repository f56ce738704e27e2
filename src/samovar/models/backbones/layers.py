"""Layers of the backbones: batch norm with a choice of statistics, and dropout.

Batch norm either uses running averages at test (inductive: the features of an image depend on that
image alone), or always the statistics of each task's set (VERSA's, transductive: they depend on all
queries together). The choice changes accuracies by percentage points, so it is a named mode that
can be switched and is printed with every result.
"""

import math
from collections.abc import Sequence
from typing import Literal, NamedTuple

import torch
from torch import Tensor, nn
from torch.nn import functional

NormMode = Literal["running", "episode"]
RANDOM_STEPS = 2**16
"""How finely the rate of dropout is divided."""


class TaskBatchNorm(nn.Module):
    """Normalise images (groups * n, C, H, W).

    Each group of n images is the support or the query set of one task.

    `running`: statistics of the whole batch in training, running averages at test. `episode`:
    statistics of each group, in training and at test, for all groups at once; running averages are
    kept on the side, so that the same model can be evaluated in either mode. VERSA learns an offset
    but no scale.
    """

    running_mean: Tensor
    running_var: Tensor

    def __init__(
        self, channels: int, mode: NormMode, *, scale: bool, momentum: float, eps: float = 1e-5
    ) -> None:
        super().__init__()
        self.mode = mode
        self.momentum = momentum
        self.eps = eps
        self.weight = nn.Parameter(torch.ones(channels)) if scale else None
        self.bias = nn.Parameter(torch.zeros(channels))
        self.register_buffer("running_mean", torch.zeros(channels))
        self.register_buffer("running_var", torch.ones(channels))

    def forward(self, x: Tensor, groups: int) -> Tensor:
        """Map (groups * n, C, H, W) to the same shape."""
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
        # torch's own kernel, group by group: reductions over all groups at once have strides that
        # make them many times slower on a CPU.
        grouped = x.unflatten(0, (groups, -1))
        normalised = [self._by_its_own_statistics(images) for images in grouped]
        if self.training:
            self._update_averages(normalised, count=x.numel() // (groups * x.shape[1]))
        return torch.cat([group.images for group in normalised])

    def _by_its_own_statistics(self, images: Tensor) -> "_NormalisedGroup":
        """Normalise images (n, C, H, W) by their mean and variance."""
        # With a momentum of 1 the kernel writes the statistics of these images into its averages.
        mean = torch.zeros_like(self.running_mean)
        variance = torch.zeros_like(self.running_var)
        images = functional.batch_norm(
            images, mean, variance, self.weight, self.bias, True, 1.0, self.eps
        )
        return _NormalisedGroup(images, mean, variance)

    @torch.no_grad()
    def _update_averages(self, groups: list["_NormalisedGroup"], count: int) -> None:
        """Move the running averages towards mean and unbiased variance over all images.

        The variance of all images is that within the groups plus that between their means, as all
        groups are equally large. `count` is the number of values of a channel in a group.
        """
        means = torch.stack([group.mean for group in groups])
        variances = torch.stack([group.variance for group in groups]) * ((count - 1) / count)
        total = count * len(groups)
        pooled = (variances.mean(0) + means.var(0, correction=0)) * (total / (total - 1))
        self.running_mean.lerp_(means.mean(0), self.momentum)
        self.running_var.lerp_(pooled, self.momentum)


class _NormalisedGroup(NamedTuple):
    """Normalised images (n, C, H, W), and their mean and unbiased variance (C,) before."""

    images: Tensor
    mean: Tensor
    variance: Tensor


class SynchronizedBatchNorm(nn.SyncBatchNorm):
    """Running norm whose training statistics are those of all GPUs.

    Its tensors have the same names as those of TaskBatchNorm, so that checkpoints fit both.
    """

    mode: NormMode = "running"

    def __init__(self, norm: TaskBatchNorm) -> None:
        super().__init__(len(norm.bias), norm.eps, norm.momentum, affine=False)
        self.register_buffer("num_batches_tracked", torch.tensor(0), persistent=False)
        if norm.weight is None:
            # torch's kernel needs a scale; as a buffer it is not learned, and it is not saved.
            del self.weight
            self.register_buffer("weight", torch.ones_like(norm.bias), persistent=False)
        else:
            self.weight = norm.weight
        self.bias = norm.bias
        self.running_mean = norm.running_mean
        self.running_var = norm.running_var

    def forward(self, x: Tensor, groups: int = 1) -> Tensor:
        """Normalise as TaskBatchNorm does; the groups play no part in running norm."""
        del groups
        return super().forward(x)


def norm_modes(module: nn.Module) -> set[str]:
    """Return the modes of all norms of a model as they are now."""
    return {layer.mode for layer in module.modules() if isinstance(layer, TaskBatchNorm)}


def set_norm(module: nn.Module, mode: NormMode) -> None:
    """Switch every batch norm to `mode`."""
    for layer in module.modules():
        if isinstance(layer, TaskBatchNorm):
            layer.mode = mode


def synchronize(module: nn.Module) -> None:
    """Replace running norms by ones that share statistics between GPUs.

    torch has that for GPUs only.
    """
    for name, child in module.named_children():
        if isinstance(child, TaskBatchNorm) and child.mode == "running":
            setattr(module, name, SynchronizedBatchNorm(child))
        else:
            synchronize(child)


def dropout(x: Tensor, rate: float, generators: Sequence[torch.Generator]) -> Tensor:
    """Set elements of (groups * n, C, ...) to zero at random and scale up the rest.

    The mask of each group comes from a generator of its own, never from torch's global state. The
    rate is rounded to a multiple of 1 / 65536, which the scale takes into account.
    """
    threshold = min(round(rate * RANDOM_STEPS), RANDOM_STEPS - 1)
    images = x.shape[0] // len(generators)
    # In memory a mask has its channels last, whatever the order of x: masks must not depend on it.
    # Images on a CPU have the same order, and a product of different orders takes far longer.
    shape = (images, *x.shape[2:], x.shape[1])
    masks = [_random_mask(shape, threshold, generator) for generator in generators]
    keep = torch.cat(masks).movedim(-1, 1).to(x.dtype)
    return x * keep * (RANDOM_STEPS / (RANDOM_STEPS - threshold))


def _random_mask(shape: Sequence[int], threshold: int, generator: torch.Generator) -> Tensor:
    """Return a mask that is false with a probability of threshold / 65536."""
    size = math.prod(shape)
    if generator.device.type != "cpu":
        numbers = torch.rand(size, generator=generator, device=generator.device)
        return (numbers >= threshold / RANDOM_STEPS).view(*shape)
    # Each random integer of 64 bits serves four elements. On a CPU torch's own `bernoulli_` takes
    # ten times as long, which was most of the time of training with dropout.
    integers = torch.empty(-(-size // 4), dtype=torch.int64)
    integers.random_(-(2**63), None, generator=generator)
    sixteen_bits = integers.view(torch.int16)[:size]  # from -32768 to 32767
    return (sixteen_bits >= threshold - RANDOM_STEPS // 2).view(*shape)
