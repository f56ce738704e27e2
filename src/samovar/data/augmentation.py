"""From stored images to network input, on the device, for a whole batch at once: flip, crop, jitter, normalise."""

from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor
from torch.nn import functional

from samovar.config import AugmentationSettings
from samovar.noise import generator

NUMBERS_PER_IMAGE = 6
GREY = (0.299, 0.587, 0.114)


def augmentation_noise(seed: int, step: int, tasks: range, images: int, purpose: str) -> Tensor:
    """Uniform noise (T, images, 6) of these tasks of an update: a task's own, wherever it is processed."""
    drawn = [generator(seed, f"augment {purpose}", step, task).random((images, NUMBERS_PER_IMAGE)) for task in tasks]
    return torch.from_numpy(np.stack(drawn).astype(np.float32))


@dataclass(frozen=True)
class Normalisation:
    """x -> (x / scale - mean) / std for each channel, `mean` and `std` being in units of the scale."""

    mean: tuple[float, ...]
    std: tuple[float, ...]
    scale: float = 255.0

    def __call__(self, images: Tensor) -> Tensor:
        """Images (B, C, H, W) with values from 0 to `scale`, or features (B, d) with scale 1."""
        shape = (1, -1, *(1,) * (images.ndim - 2))
        std = torch.tensor(self.std, device=images.device).clamp(min=1e-6).view(shape)
        mean = torch.tensor(self.mean, device=images.device).view(shape)
        return (images - mean * self.scale) * (1 / (self.scale * std))


def network_input(
    images: Tensor,
    normalisation: Normalisation,
    settings: AugmentationSettings | None = None,
    noise: Tensor | None = None,
) -> Tensor:
    """Stored images (..., H, W, C) uint8 to (B, C, H, W) float in channels_last order, B being all leading axes.

    With noise (..., 6) they are augmented; without, as in all testing, they are only normalised.
    """
    flat = images.flatten(0, -4)
    if noise is not None and settings is not None:
        uniform = noise.reshape(-1, NUMBERS_PER_IMAGE).to(flat.device)
        if settings.flip or settings.crop_padding:
            flat = flip_and_crop(flat, settings, uniform)
        if settings.jitter:
            return normalisation(jitter(flat.float(), settings.jitter, uniform).permute(0, 3, 1, 2))
    return normalisation(flat.permute(0, 3, 1, 2).float())


def flip_and_crop(images: Tensor, settings: AugmentationSettings, uniform: Tensor) -> Tensor:
    """One indexed read of the padded images (B, H, W, C): rows and columns from a random corner, columns mirrored."""
    height, width, padding = images.shape[1], images.shape[2], settings.crop_padding
    padded = functional.pad(images, (0, 0, padding, padding, padding, padding))
    corner = (uniform[:, :2] * (2 * padding + 1)).long().clamp(max=2 * padding)
    rows = corner[:, 0, None] + torch.arange(height, device=images.device)
    columns = torch.arange(width, device=images.device).expand(len(images), -1)
    if settings.flip:
        columns = torch.where(uniform[:, 2, None] < 0.5, columns.flip(1), columns)
    columns = corner[:, 1, None] + columns
    batch = torch.arange(len(images), device=images.device)
    return padded[batch[:, None, None], rows[:, :, None], columns[:, None, :]]


def jitter(images: Tensor, strength: float, uniform: Tensor) -> Tensor:
    """Brightness, contrast, then saturation of images (B, H, W, C) from 0 to 255, each by its own random factor."""
    factors = 1 + strength * (2 * uniform[:, 3:6] - 1)
    brightness, contrast, saturation = (factor.view(-1, 1, 1, 1) for factor in factors.unbind(1))
    images = (images * brightness).clamp_(0, 255)
    images = torch.lerp(_grey(images).mean((1, 2), keepdim=True), images, contrast).clamp_(0, 255)
    return torch.lerp(_grey(images), images, saturation).clamp_(0, 255) if images.shape[-1] == 3 else images


def _grey(images: Tensor) -> Tensor:
    if images.shape[-1] != 3:
        return images.mean(-1, keepdim=True)
    return (images * torch.tensor(GREY, device=images.device)).sum(-1, keepdim=True)
