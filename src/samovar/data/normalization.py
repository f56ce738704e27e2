"""How stored images and vectors are shifted and scaled before they enter a network."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor

from samovar.data.store import Store

CONSTANT = 1e-6
"""A channel with a smaller standard deviation counts as constant."""


@dataclass(frozen=True)
class Normalization:
    """x -> (x / scale - mean) / std for each channel.

    `mean` and `std` are in units of the scale.
    """

    mean: tuple[float, ...]
    std: tuple[float, ...]
    scale: float = 255.0

    @classmethod
    def standard(cls, store: Store, scheme: str | None = None) -> "Normalization":
        """Return the normalisation to mean 0 and standard deviation 1.

        They are those of the training classes of a store. A channel that is constant there is only
        shifted. Divided by almost nothing, it would drown all others as soon as it varies in
        another class.
        """
        # Images are bytes; features are used as they are.
        scale = 255.0 if store.array.dtype == np.uint8 else 1.0
        means, deviations = store.statistics(scheme)
        mean = [value / scale for value in means]
        std = []
        for deviation in deviations:
            scaled = deviation / scale
            std.append(scaled if scaled > CONSTANT else 1.0)
        return cls(tuple(mean), tuple(std), scale)

    def __call__(self, images: Tensor) -> Tensor:
        """Return images (B, H, W, C) from 0 to `scale`, or features (B, d), normalised as float."""
        flat = images.flatten(1)
        # One long row: broadcasting over C = 3 values would be several times slower.
        mean = _repeated(self.mean, flat)
        std = _repeated(self.std, flat)
        normalized = (
            flat.to(torch.float32, copy=True)
            .sub_(mean * self.scale)
            .mul_(1 / (self.scale * std.clamp(min=CONSTANT)))
        )
        return normalized.view(images.shape)


def _repeated(values: Sequence[float], flat: Tensor) -> Tensor:
    """Return the values of the channels repeated for all pixels of a row of (B, H * W * C)."""
    row = torch.tensor(values, dtype=torch.float32, device=flat.device)
    return row.repeat(flat.shape[1] // len(values))


def network_input(images: Tensor, normalization: Normalization) -> Tensor:
    """Return stored images (..., H, W, C) as normalised float (B, C, H, W) in channels_last order.

    B counts the images of all leading axes.
    """
    flat = images.flatten(0, -4)
    return normalization(flat).permute(0, 3, 1, 2)
