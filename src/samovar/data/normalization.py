"""How stored images and vectors are shifted and scaled before they enter a network."""

from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor

from samovar.data.store import Store

CONSTANT = 1e-6
"""A standard deviation below this is none."""


@dataclass(frozen=True)
class Normalization:
    """x -> (x / scale - mean) / std for each channel, `mean` and `std` being in units of the scale."""

    mean: tuple[float, ...]
    std: tuple[float, ...]
    scale: float = 255.0

    @classmethod
    def standard(cls, store: Store, scheme: str | None = None) -> "Normalization":
        """To mean 0 and standard deviation 1 over the training classes of a store.

        What is constant there is only shifted: divided by almost nothing, it would drown all else in other classes.
        """
        scale = 255.0 if store.array.dtype == np.uint8 else 1.0
        mean, std = (
            tuple(value / scale for value in values) for values in store.statistics(scheme)
        )
        return cls(mean, tuple(value if value > CONSTANT else 1.0 for value in std), scale)

    def __call__(self, images: Tensor) -> Tensor:
        """Images (B, H, W, C) with values from 0 to `scale`, or features (B, d) with scale 1; the result is float."""
        flat = images.flatten(1)
        # One long row instead of a broadcast over C = 3 values, which would be several times slower.
        mean, std = (
            torch.tensor(values, dtype=torch.float32, device=images.device).repeat(
                flat.shape[1] // len(values)
            )
            for values in (self.mean, self.std)
        )
        normalised = (
            flat.to(torch.float32, copy=True)
            .sub_(mean * self.scale)
            .mul_(1 / (self.scale * std.clamp(min=CONSTANT)))
        )
        return normalised.view(images.shape)
