"""From stored images to network input, on the device, for a whole batch at once: flip, crop, jitter, normalise."""

import numpy as np
import torch
from torch import Tensor
from torch.nn import functional

from samovar.core.randomness import generator
from samovar.data.normalization import Normalization
from samovar.settings.data import AugmentationSettings

NUMBERS_PER_IMAGE = 6
GREY = (0.299, 0.587, 0.114)


def augmentation_noise(seed: int, step: int, tasks: range, images: int, purpose: str) -> Tensor:
    """Uniform noise (T, images, 6) of these tasks of an update: a task's own, wherever it is processed."""
    drawn = [
        generator(seed, f"augment {purpose}", step, task).random((images, NUMBERS_PER_IMAGE))
        for task in tasks
    ]
    return torch.from_numpy(np.stack(drawn).astype(np.float32))


def network_input(
    images: Tensor,
    normalisation: Normalization,
    settings: AugmentationSettings | None = None,
    noise: Tensor | None = None,
) -> Tensor:
    """Stored images (..., H, W, C) uint8 to (B, C, H, W) float in channels_last order, B being all leading axes.

    With noise (..., 6) they are augmented; without, as in all testing, they are only normalised.
    """
    flat = images.flatten(0, -4)
    if noise is not None and settings is not None:
        uniform = noise.reshape(-1, NUMBERS_PER_IMAGE).to(flat.device)
        flat = flip_and_crop(flat, settings, uniform)
        flat = jitter(flat.float(), settings.jitter, uniform) if settings.jitter else flat
    return normalisation(flat).permute(0, 3, 1, 2)


def flip_and_crop(images: Tensor, settings: AugmentationSettings, uniform: Tensor) -> Tensor:
    """Crop the padded images (B, H, W, C) at a random corner each, then mirror half of them."""
    height, width, padding = images.shape[1], images.shape[2], settings.crop_padding
    if padding:
        padded = functional.pad(images, (0, 0, padding, padding, padding, padding))
        windows = (
            padded.unfold(1, height, 1).unfold(2, width, 1).permute(0, 1, 2, 4, 5, 3)
        )  # a view of every crop
        corner = (uniform[:, :2] * (2 * padding + 1)).long().clamp(max=2 * padding)
        images = windows[
            torch.arange(len(images), device=images.device), corner[:, 0], corner[:, 1]
        ]
    if settings.flip:
        mirrored = (uniform[:, 2] < 0.5).nonzero()[:, 0]
        images = images.index_copy(0, mirrored, images[mirrored].flip(2))
    return images


def jitter(images: Tensor, strength: float, uniform: Tensor) -> Tensor:
    """Brightness, contrast, then saturation of images (B, H, W, C) from 0 to 255, each by its own random factor."""
    factors = 1 + strength * (2 * uniform[:, 3:6] - 1)
    brightness, contrast, saturation = (factor.view(-1, 1, 1, 1) for factor in factors.unbind(1))
    images = (images * brightness).clamp_(0, 255)
    images = torch.lerp(_grey(images).mean((1, 2), keepdim=True), images, contrast).clamp_(0, 255)
    return (
        torch.lerp(_grey(images), images, saturation).clamp_(0, 255)
        if images.shape[-1] == 3
        else images
    )


def _grey(images: Tensor) -> Tensor:
    if images.shape[-1] != 3:
        return images.mean(-1, keepdim=True)
    return (images * torch.tensor(GREY, device=images.device)).sum(-1, keepdim=True)
