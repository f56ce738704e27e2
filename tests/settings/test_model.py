"""Model settings that make no sense are refused."""

import pytest

from samovar.errors import SettingsError
from samovar.settings.model import ModelSettings


@pytest.mark.parametrize(
    "wrong",
    [
        {"method": "prototypes"},
        {"classifier": "euclidean"},
        {"task_embedding": True},
        {"shared": False, "backbone": "resnet12"},
        {"dropout": 1.0},
        {"dropout": 0.5, "backbone": "resnet12"},
        {"beta": -1.0},
        {"samples": 0},
    ],
)
def test_settings_that_make_no_sense(wrong):
    with pytest.raises(SettingsError):
        ModelSettings(**wrong)
