"""Images with noise or blur, to measure what a model's answers are worth on bad photographs.

Kinds and severities are those of CIFAR-10-C (Hendrycks and Dietterich, ICLR 2019), which Snell and
Zemel (ICLR 2021) use for few-shot tasks: support and queries are corrupted alike. Each image is
corrupted by a function of (seed, kind, its index), whatever else is looked at.
"""

import hashlib
import math
from dataclasses import dataclass
from typing import Literal, get_args

import numpy as np
import torch
from numpy.typing import NDArray
from scipy import ndimage
from torch import Tensor
from torch.nn import functional

from samovar.core.randomness import generator
from samovar.data.dataset import Dataset, Indices
from samovar.errors import DataError, SettingsError

Kind = Literal["gaussian_noise", "gaussian_blur", "motion_blur"]
KINDS: tuple[Kind, ...] = get_args(Kind)
SEVERITIES = (1, 2, 3, 4, 5)

NOISE = (0.04, 0.06, 0.08, 0.09, 0.10)
"""The standard deviation of the noise, of a range of 1, by severity."""
BLUR = (0.4, 0.6, 0.7, 0.8, 1.0)
"""The standard deviation of the blur, in pixels of a small image."""
MOTION = ((6, 1.0), (6, 1.5), (6, 2.0), (8, 2.0), (9, 2.5))
"""Radius and standard deviation of the blur along a line, in pixels."""
STEEPEST = 45.0
"""The line is drawn between so many degrees below the horizontal and as many above."""
SMALLEST_WEIGHT = 1e-4
"""Points of the line that weigh less are left out."""


@dataclass(frozen=True)
class Corruption:
    """A kind of corruption at a severity from 1 to 5."""

    kind: Kind
    severity: int
    seed: int = 0

    def __post_init__(self) -> None:
        if self.kind not in KINDS:
            raise SettingsError(f"There is no corruption {self.kind!r}. Use one of {KINDS}.")
        if self.severity not in SEVERITIES:
            raise SettingsError(f"The severity must be from 1 to 5, but is {self.severity}.")

    def __str__(self) -> str:
        return f"{self.kind.replace('_', ' ')} of severity {self.severity}"

    def __call__(self, images: Tensor, indices: Indices) -> Tensor:
        """Corrupt images (n, H, W, C) uint8, whose indices (n,) decide what is random."""
        if self.kind == "gaussian_noise":
            return _noisy(images, self._draws(indices, images.shape[1:]), NOISE[self.severity - 1])
        if self.kind == "gaussian_blur":
            return _blurred(images, BLUR[self.severity - 1])
        shares = self._draws(indices, (1,), uniform=True)[:, 0]
        angles = math.radians(STEEPEST) * (2 * torch.from_numpy(shares) - 1)
        return _moved(images, angles, *MOTION[self.severity - 1])

    def _draws(
        self, indices: Indices, shape: tuple[int, ...], *, uniform: bool = False
    ) -> NDArray[np.float32]:
        """Draw numbers (n, *shape) for each image, normal or uniform."""
        draws = np.empty((len(indices), *shape), np.float32)
        for row, index in zip(draws, indices, strict=True):
            noise = generator(self.seed, f"corruption {self.kind}", int(index))
            if uniform:
                row[...] = noise.random(shape, np.float32)
            else:
                row[...] = noise.standard_normal(shape, np.float32)
        return draws


def _noisy(images: Tensor, draws: NDArray[np.float32], deviation: float) -> Tensor:
    return _pixels(images.float() + 255 * deviation * torch.from_numpy(draws))


def _blurred(images: Tensor, deviation: float) -> Tensor:
    pixels = images.numpy().astype(np.float32)
    deviations = (0.0, deviation, deviation, 0.0)
    return _pixels(torch.from_numpy(ndimage.gaussian_filter(pixels, deviations, mode="nearest")))


def _moved(images: Tensor, angles: Tensor, radius: int, deviation: float) -> Tensor:
    """Average images along lines: half of a Gaussian, as if the camera had moved and stopped."""
    channels_first = images.permute(0, 3, 1, 2).float()
    height, width = images.shape[1:3]
    weights = torch.exp(-0.5 * (torch.arange(2 * radius + 1) / deviation).square())
    weights = weights / weights.sum()
    total = torch.zeros_like(channels_first)
    for step, weight in enumerate(weights[weights > SMALLEST_WEIGHT].tolist()):
        shifts = torch.zeros(len(images), 2, 3)
        shifts[:, 0, 0] = 1
        shifts[:, 1, 1] = 1
        # torch measures an image from -1 to 1.
        shifts[:, 0, 2] = 2 * step * angles.cos() / width
        shifts[:, 1, 2] = 2 * step * angles.sin() / height
        grid = functional.affine_grid(shifts, list(channels_first.shape), align_corners=False)
        total += weight * functional.grid_sample(
            channels_first, grid, padding_mode="border", align_corners=False
        )
    return _pixels(total.permute(0, 2, 3, 1))


def _pixels(values: Tensor) -> Tensor:
    """Return values as pixels of 0 to 255."""
    return values.round().clamp(0, 255).to(torch.uint8)


class CorruptedDataset(Dataset):
    """A split of a store whose images are corrupted when they are gathered."""

    def __init__(self, clean: Dataset, corruption: Corruption) -> None:
        if len(clean.store.facts["shape"]) != 3:
            raise DataError(f"{clean.store.name} has vectors, but only images can be corrupted.")
        super().__init__(
            clean.store, clean.split_name, scheme=clean.scheme, rotations=clean.rotations
        )
        self.corruption = corruption

    def part(self, split: str) -> "CorruptedDataset":
        """Return another split of the same data, corrupted alike."""
        return CorruptedDataset(super().part(split), self.corruption)

    @property
    def description(self) -> str:
        """Name, split, number of classes, and the corruption."""
        return f"{super().description}, {self.corruption}"

    @property
    def identity(self) -> str:
        """A hash of the images, the names of the classes and the corruption."""
        return hashlib.sha256(f"{super().identity} {self.corruption!r}".encode()).hexdigest()

    def gather(self, indices: Indices) -> Tensor:
        """Return the corrupted images (*indices.shape, H, W, C) uint8 at these indices."""
        flat = indices.reshape(-1)
        images = self.corruption(super().gather(flat), flat)
        return images.view(*indices.shape, *images.shape[1:])
