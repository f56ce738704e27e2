"""An engine is chosen by one flag, and impossible wishes are refused."""

import pytest

from samovar.errors import SettingsError
from samovar.settings.engine import EngineSettings


def test_without_a_flag_no_engine_is_chosen():
    assert not EngineSettings().chosen
    assert EngineSettings(ray="local").chosen
    assert EngineSettings(slurm="default").chosen


@pytest.mark.parametrize(
    ("wish", "sentence"),
    [
        ({"ray": "local", "slurm": "local"}, "Choose one"),
        ({"cpus": 0}, "--cpus must be at least 1"),
        ({"gpus": -1}, "--gpus must be at least 0"),
        ({"hours": 0.0}, "--hours must be positive"),
        ({"hours": float("nan")}, "--hours must be positive"),
        ({"slurm_options": ("account",)}, "NAME=VALUE"),
    ],
)
def test_impossible_wishes_are_refused(wish, sentence):
    with pytest.raises(SettingsError, match=sentence):
        EngineSettings(**wish)
