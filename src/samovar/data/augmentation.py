"""Random changes of a whole batch of training images on the device: crop, flip, jitter."""

import numpy as np
import torch
from torch import Tensor
from torch.nn import functional

from samovar.core.randomness import generator
from samovar.settings.data import AugmentationSettings

NUMBERS_PER_IMAGE = 6
"""Two for the corner of the crop, one for the flip, three for the jitter."""
GREY = (0.299, 0.587, 0.114)
"""Weights of red, green and blue in the brightness of a pixel (ITU-R BT.601, as Pillow has it)."""


def augmentation_noise(seed: int, step: int, tasks: range, images: int, purpose: str) -> Tensor:
    """Return uniform noise (T, images, 6) for these tasks of an update.

    The noise of a task does not depend on the process that draws it, nor on the other tasks.
    """
    drawn = []
    for task in tasks:
        noise = generator(seed, f"augment {purpose}", step, task)
        drawn.append(noise.random((images, NUMBERS_PER_IMAGE)))
    return torch.from_numpy(np.stack(drawn).astype(np.float32))


def augment(images: Tensor, settings: AugmentationSettings, noise: Tensor) -> Tensor:
    """Return stored images (..., H, W, C) randomly changed by noise (..., 6), as (B, H, W, C).

    B counts the images of all leading axes. The values stay from 0 to 255.
    """
    flat = images.flatten(0, -4)
    uniform = noise.reshape(-1, NUMBERS_PER_IMAGE).to(flat.device)
    # Before the jitter the images are still bytes, a quarter of the memory of floats.
    flat = flip_and_crop(flat, settings, uniform)
    if settings.jitter:
        flat = jitter(flat.float(), settings.jitter, uniform)
    return flat


def flip_and_crop(images: Tensor, settings: AugmentationSettings, uniform: Tensor) -> Tensor:
    """Crop the padded images (B, H, W, C) at a random corner each, then mirror half of them."""
    padding = settings.crop_padding
    if padding:
        images = _crop(images, padding, uniform[:, :2])
    if settings.flip:
        mirrored = (uniform[:, 2] < 0.5).nonzero()[:, 0]
        images = images.index_copy(0, mirrored, images[mirrored].flip(2))
    return images


def _crop(images: Tensor, padding: int, uniform: Tensor) -> Tensor:
    _, height, width, _ = images.shape
    padded = functional.pad(images, (0, 0, padding, padding, padding, padding))
    # A view of every possible crop: (B, rows, columns, H, W, C).
    windows = padded.unfold(1, height, 1).unfold(2, width, 1).permute(0, 1, 2, 4, 5, 3)
    corner = (uniform * (2 * padding + 1)).long().clamp(max=2 * padding)
    numbers = torch.arange(len(images), device=images.device)
    return windows[numbers, corner[:, 0], corner[:, 1]]


def jitter(images: Tensor, strength: float, uniform: Tensor) -> Tensor:
    """Change brightness, contrast, then saturation, each by a random factor for each image.

    Images are (B, H, W, C) from 0 to 255, before and after.
    """
    # From 1 - strength to 1 + strength; 0.5 leaves the image as it is.
    factors = 1 + strength * (2 * uniform[:, 3:6] - 1)
    brightness, contrast, saturation = factors[..., None, None, None].unbind(1)
    images = (images * brightness).clamp_(0, 255)
    mean_grey = _grey(images).mean((1, 2), keepdim=True)
    images = torch.lerp(mean_grey, images, contrast).clamp_(0, 255)
    if images.shape[-1] != 3:
        return images  # grey images have no saturation
    return torch.lerp(_grey(images), images, saturation).clamp_(0, 255)


def _grey(images: Tensor) -> Tensor:
    if images.shape[-1] != 3:
        return images.mean(-1, keepdim=True)
    return (images * torch.tensor(GREY, device=images.device)).sum(-1, keepdim=True)
