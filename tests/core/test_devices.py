"""Devices are found by name, and a wrong name is refused in the same words everywhere."""

import pytest
import torch

from samovar.core.devices import device_named
from samovar.errors import SettingsError
from samovar.settings.training import Devices


def test_devices_by_name():
    assert device_named("cpu") == torch.device("cpu")
    assert device_named("auto").type == ("cuda" if torch.cuda.is_available() else "cpu")


@pytest.mark.parametrize("name", ["abacus", "", "CPU"])
def test_unknown_devices_are_refused_in_the_same_words_everywhere(name):
    words = f"must be cpu, cuda, mps or auto, but is {name!r}"
    with pytest.raises(SettingsError, match=words):
        device_named(name)
    with pytest.raises(SettingsError, match=words):
        Devices(accelerator=name)


@pytest.mark.parametrize("name", ["auto:1", "cpu:x"])
def test_devices_with_an_impossible_number_are_refused(name):
    with pytest.raises(SettingsError, match="cannot be used"):
        device_named(name)


@pytest.mark.skipif(torch.backends.mps.is_available(), reason="there is such a device")
def test_a_device_that_is_not_there_is_refused():
    with pytest.raises(SettingsError, match="There is no mps device here"):
        device_named("mps")
