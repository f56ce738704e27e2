"""Settings survive their file, also one of an older version."""

import dataclasses

import pytest

from samovar.data.store import ClassEntry
from samovar.errors import SettingsError
from samovar.settings.presets import PRESETS
from samovar.settings.stored import from_dict
from samovar.settings.training import TrainSettings


@pytest.mark.parametrize("name", PRESETS)
def test_settings_survive_their_file(name):
    settings = PRESETS[name].settings
    assert from_dict(TrainSettings, dataclasses.asdict(settings)) == settings


def test_what_an_older_version_stored_is_read_and_what_is_unknown_is_refused():
    stored = dataclasses.asdict(PRESETS["glyphs"].settings)
    del stored["optimizer"]["clip_by"], stored["trace_every"]
    assert from_dict(TrainSettings, stored) == PRESETS["glyphs"].settings
    with pytest.raises(SettingsError, match="colour"):
        from_dict(TrainSettings, stored | {"colour": 1})
    with pytest.raises(SettingsError, match="name"):
        from_dict(ClassEntry, {"count": 3})
