"""Corruptions are what their names say, grow with severity, and depend on the image alone."""

import numpy as np
import pytest
import torch
from helpers import make_store, noisy_store
from helpers_evaluation import vector_dataset

from samovar.data.corruption import (
    BLUR,
    KINDS,
    NOISE,
    SEVERITIES,
    CorruptedDataset,
    Corruption,
)
from samovar.data.dataset import Dataset
from samovar.errors import DataError, SettingsError

GREY = torch.full((40, 16, 16, 3), 128, dtype=torch.uint8)
INDICES = np.arange(40)


def point() -> torch.Tensor:
    image = torch.zeros(1, 21, 21, 1, dtype=torch.uint8)
    image[0, 10, 10] = 255
    return image


@pytest.mark.parametrize("severity", SEVERITIES)
def test_noise_has_its_deviation_and_no_bias(severity):
    noisy = Corruption("gaussian_noise", severity)(GREY, INDICES).double()
    assert float(noisy.mean()) == pytest.approx(128, abs=1)
    assert float(noisy.std()) == pytest.approx(255 * NOISE[severity - 1], rel=0.03)


@pytest.mark.parametrize("kind", ["gaussian_blur", "motion_blur"])
@pytest.mark.parametrize("severity", SEVERITIES)
def test_blur_keeps_plain_images_and_the_light_of_a_point(kind, severity):
    corruption = Corruption(kind, severity)
    assert torch.equal(corruption(GREY, INDICES), GREY)
    blurred = corruption(point(), np.array([3])).double()
    assert float(blurred.sum()) == pytest.approx(255, rel=0.08)
    assert blurred.max() < 255


def test_the_width_of_a_gaussian_blur_is_its_deviation():
    blurred = Corruption("gaussian_blur", 5)(point(), np.array([0]))[0, :, :, 0].double()
    rows = torch.arange(21) - 10.0
    variance = float((blurred.sum(1) * rows.square()).sum() / blurred.sum())
    assert variance**0.5 == pytest.approx(BLUR[4], rel=0.05)


def test_motion_is_along_a_line_that_differs_between_images():
    corruption = Corruption("motion_blur", 5)
    blurred = corruption(point().expand(5, -1, -1, -1), np.arange(5))[..., 0].double()
    rows = torch.arange(21) - 10.0
    slopes = []
    for image in blurred:
        across = float((image.sum(0) * rows).sum() / image.sum())
        down = float((image.sum(1) * rows).sum() / image.sum())
        assert abs(across) > 1, "the light moves to one side"
        slopes.append(down / across)
    assert max(slopes) - min(slopes) > 0.2
    assert max(map(abs, slopes)) < 1.1, "at most 45 degrees"


@pytest.mark.parametrize("kind", KINDS)
def test_an_image_is_corrupted_alike_wherever_it_is_looked_at(kind, tmp_path):
    clean = Dataset(noisy_store(tmp_path), "train")
    dataset = CorruptedDataset(clean, Corruption(kind, 4))
    indices = np.array([[3, 90], [41, 3]])
    together = dataset.gather(indices)
    assert together.shape == (2, 2, 12, 12, 3)
    assert together.dtype == torch.uint8
    assert torch.equal(together[0, 0], together[1, 1])
    assert torch.equal(together[1, 0], dataset.gather(np.array([41]))[0])
    assert not torch.equal(together, clean.gather(indices))
    changes = []
    for severity in SEVERITIES:
        harder = CorruptedDataset(clean, Corruption(kind, severity)).gather(indices)
        changes.append((harder.double() - clean.gather(indices).double()).abs().mean().item())
    assert changes == sorted(changes)


def test_corrupted_data_are_other_data_of_the_same_split(tmp_path):
    names = [f"class {i}" for i in range(6)]
    split = {"train": names[:2], "val": names[2:4], "test": names[4:]}
    clean = Dataset(make_store(tmp_path, [9] * 6, (12, 12, 3), split), "test")
    dataset = CorruptedDataset(clean, Corruption("gaussian_noise", 2))
    assert dataset.description == "toy (test, 2 classes), gaussian noise of severity 2"
    assert dataset.identity != clean.identity
    assert isinstance(dataset.part("val"), CorruptedDataset)
    assert dataset.part("val").class_names == ["class 2", "class 3"]


def test_what_cannot_be_corrupted_is_refused(tmp_path):
    with pytest.raises(SettingsError, match="from 1 to 5"):
        Corruption("gaussian_noise", 6)
    with pytest.raises(SettingsError, match="no corruption 'rain'"):
        Corruption("rain", 1)
    with pytest.raises(DataError, match="only images"):
        CorruptedDataset(vector_dataset(tmp_path), Corruption("gaussian_noise", 1))
