"""Batches are augmented as single images are, with noise that belongs to the task."""

import numpy as np
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from samovar.data.augmentation import augment, augmentation_noise, flip_and_crop, jitter
from samovar.data.normalization import Normalization, network_input
from samovar.settings.data import AugmentationSettings

PLAIN = Normalization((0.0,) * 3, (1.0,) * 3)


def images(count: int, size: int = 7, seed: int = 0) -> torch.Tensor:
    return torch.from_numpy(
        np.random.default_rng(seed).integers(0, 256, (count, size, size, 3), np.uint8)
    )


@given(st.integers(0, 3), st.booleans(), st.integers(0, 10**6))
@settings(max_examples=30)
def test_flip_and_crop_equal_doing_it_by_hand(padding, flip, seed):
    batch, uniform = (
        images(5, seed=seed),
        torch.rand(5, 6, generator=torch.Generator().manual_seed(seed)),
    )
    result = flip_and_crop(batch, AugmentationSettings(flip=flip, crop_padding=padding), uniform)
    for image, numbers, got in zip(batch.numpy(), uniform.tolist(), result.numpy(), strict=True):
        padded = np.pad(image, ((padding, padding), (padding, padding), (0, 0)))
        top, left = (int(number * (2 * padding + 1)) for number in numbers[:2])
        expected = padded[top : top + 7, left : left + 7]
        np.testing.assert_array_equal(
            got, expected[:, ::-1] if flip and numbers[2] < 0.5 else expected
        )


def test_the_noise_flips_half_of_the_images_and_reaches_every_crop():
    noise = augmentation_noise(
        seed=0, step=0, tasks=range(20), images=100, purpose="query"
    ).reshape(-1, 6)
    assert abs((noise[:, 2] < 0.5).float().mean() - 0.5) < 0.05
    assert set((noise[:, 0] * 9).long().tolist()) == set(range(9))


def test_jitter_of_no_strength_is_the_identity_and_stays_in_range():
    batch, uniform = images(6).float(), torch.rand(6, 6)
    torch.testing.assert_close(jitter(batch, 0.0, uniform), batch)
    strong = jitter(batch, 1.0, uniform)
    assert strong.min() >= 0
    assert strong.max() <= 255


def test_saturation_zero_is_grey_and_contrast_zero_is_flat():
    batch = images(4).float()
    half = torch.full((4, 6), 0.5)
    no_saturation, no_contrast = half.clone(), half.clone()
    no_saturation[:, 5] = no_contrast[:, 4] = 0  # factor 1 - strength = 0
    grey = jitter(batch, 1.0, no_saturation)
    torch.testing.assert_close(grey, grey[..., :1].expand_as(grey))
    flat = jitter(batch, 1.0, no_contrast)
    torch.testing.assert_close(flat, flat[:, :1, :1].expand_as(flat), rtol=0, atol=1e-3)
    brightness = half.clone()
    brightness[:, 3] = 0
    assert jitter(batch, 1.0, brightness).abs().max() == 0


def test_noise_belongs_to_the_task_not_to_the_process():
    together = augmentation_noise(3, 17, range(5), 10, "support")
    apart = torch.cat(
        [
            augmentation_noise(3, 17, range(2), 10, "support"),
            augmentation_noise(3, 17, range(2, 5), 10, "support"),
        ]
    )
    torch.testing.assert_close(together, apart, rtol=0, atol=0)
    for other in (
        augmentation_noise(4, 17, range(5), 10, "support"),
        augmentation_noise(3, 18, range(5), 10, "support"),
    ):
        assert not torch.equal(together, other)
    assert not torch.equal(together, augmentation_noise(3, 17, range(5), 10, "query"))


def test_a_batch_is_augmented_image_by_image_in_all_leading_axes():
    batch = images(6).view(2, 3, 7, 7, 3)
    everything = AugmentationSettings(flip=True, crop_padding=2, jitter=0.4)
    noise = augmentation_noise(0, 0, range(2), 3, "support")
    augmented = augment(batch, everything, noise)
    assert augmented.shape == (6, 7, 7, 3)
    torch.testing.assert_close(augmented[3:], augment(batch[1:], everything, noise[1:]))
    result = network_input(augmented, PLAIN)
    assert result.shape == (6, 3, 7, 7)
    assert result.is_contiguous(memory_format=torch.channels_last)


def test_without_jitter_the_images_stay_bytes():
    noise = augmentation_noise(0, 0, range(1), 4, "support")
    assert augment(images(4), AugmentationSettings(flip=True), noise).dtype == torch.uint8
