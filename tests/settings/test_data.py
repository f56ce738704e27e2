"""Impossible choices for data are refused."""

import pytest

from samovar.errors import SettingsError
from samovar.settings.data import AugmentationSettings, PrepareSettings


@pytest.mark.parametrize("size", [0, 1025])
def test_impossible_sizes_are_refused(size):
    with pytest.raises(SettingsError, match=f"from 1 to 1024 pixels, but is {size}"):
        PrepareSettings(size=size)


@pytest.mark.parametrize(
    ("wrong", "words"),
    [
        ({"crop_padding": -1}, "--augmentation.crop-padding must be at least 0, but is -1"),
        ({"jitter": 1.5}, "--augmentation.jitter must be from 0 to 1, but is 1.5"),
        ({"jitter": float("nan")}, "--augmentation.jitter must be from 0 to 1"),
    ],
)
def test_impossible_augmentation_is_refused_by_the_flag(wrong, words):
    with pytest.raises(SettingsError, match=words):
        AugmentationSettings(**wrong)


def test_shares_of_the_classes_add_up():
    assert sum(PrepareSettings().fractions) == pytest.approx(1)
