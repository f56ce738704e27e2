"""Dropout whose masks come from a given noise, never from torch's global state."""

from collections.abc import Sequence

import torch
from torch import Tensor


def dropout(x: Tensor, rate: float, generators: Sequence[torch.Generator]) -> Tensor:
    """Element-wise inverted dropout of (groups * n, ...), each group of images by its own generator."""
    keep = torch.empty(x.shape, dtype=torch.bool, device=x.device)  # masks do not depend on x's memory order
    for mask, generator in zip(keep.unflatten(0, (len(generators), -1)), generators, strict=True):
        mask.bernoulli_(1 - rate, generator=generator)
    return x * keep * (1 / (1 - rate))
