"""Settings survive their file, also one of an older version."""

import dataclasses
from dataclasses import replace

import pytest

from samovar.data.store import ClassEntry
from samovar.errors import SettingsError
from samovar.settings.data import DataSettings
from samovar.settings.presets import PRESETS
from samovar.settings.stored import Difference, differences, from_dict, to_dict
from samovar.settings.training import TrainSettings


@pytest.mark.parametrize("name", PRESETS)
def test_settings_survive_their_file(name):
    settings = PRESETS[name].settings
    assert from_dict(TrainSettings, dataclasses.asdict(settings)) == settings


def test_a_field_that_was_added_later_is_stored_only_if_it_is_used():
    """Files and hashes of models that do without it stay as they were."""
    settings = PRESETS["glyphs"].settings
    stored = to_dict(settings)
    assert not {"inference", "count_input", "first_log_variance"} & stored["model"].keys()
    used = replace(settings, model=replace(settings.model, count_input=True))
    assert to_dict(used)["model"] == stored["model"] | {"count_input": True}
    assert from_dict(TrainSettings, to_dict(used)) == used


def test_what_an_older_version_stored_is_read_and_what_is_unknown_is_refused():
    stored = dataclasses.asdict(PRESETS["glyphs"].settings)
    del stored["optimizer"]["clip_by"], stored["trace_every"]
    assert from_dict(TrainSettings, stored) == PRESETS["glyphs"].settings
    with pytest.raises(SettingsError, match="colour"):
        from_dict(TrainSettings, stored | {"colour": 1})
    with pytest.raises(SettingsError, match="name"):
        from_dict(ClassEntry, {"count": 3})
    with pytest.raises(SettingsError, match="sizo"):
        from_dict(TrainSettings, stored | {"model": {"sizo": 3}})


@pytest.mark.parametrize(
    ("field", "value"),
    [("updates", "many"), ("updates", 1.5), ("precision", "64"), ("seed", True), ("data", 3)],
)
def test_values_of_the_wrong_type_are_refused(field, value):
    stored = dataclasses.asdict(PRESETS["glyphs"].settings) | {field: value}
    with pytest.raises(
        SettingsError, match=rf"TrainSettings cannot be used: {field} (must|cannot)"
    ):
        from_dict(TrainSettings, stored)


def test_whole_numbers_and_lists_are_read_as_the_field_has_them():
    """JSON writes 25.0 as 25 at times, and has no tuples."""
    settings = PRESETS["table2-samovar-sc-5shot"].settings
    stored = dataclasses.asdict(settings)
    stored["model"]["alpha"] = 25
    stored["optimizer"]["drops"] = list(settings.optimizer.drops)
    read = from_dict(TrainSettings, stored)
    assert read == settings
    assert repr(read.model.alpha) == "25", "the hash of a model is that of its settings as written"
    assert isinstance(read.optimizer.drops, tuple)


def test_differences_are_the_fields_that_were_changed():
    settings = PRESETS["glyphs"].settings
    assert differences(settings, settings) == []
    optimizer = replace(settings.optimizer, clip=0.1)
    changed = replace(settings, data=DataSettings("omniglot"), seed=7, optimizer=optimizer)
    found = differences(settings, changed)
    assert found == [
        Difference(("data", "name"), "glyphs", "omniglot"),
        Difference(("optimizer", "clip"), 0.0, 0.1),
        Difference(("seed",), 0, 7),
    ]
    assert str(found[1]) == "optimizer.clip: 0.0 -> 0.1"
