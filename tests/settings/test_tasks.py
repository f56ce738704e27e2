"""Impossible tasks are refused, and named protocols are those of the papers."""

import pytest

from samovar.errors import SettingsError
from samovar.settings.tasks import EpisodeSettings, Protocol, named_protocol


@pytest.mark.parametrize("wrong", [{"way": 1}, {"shot": 0}, {"queries": -1}, {"most_way": 2}])
def test_impossible_settings(wrong):
    with pytest.raises(SettingsError):
        EpisodeSettings(**wrong)


def test_named_protocols():
    assert named_protocol("paper", 5) == Protocol(5, 5, 15, episodes=5000, samples=1000)
    assert named_protocol("tadam", 1) == Protocol(
        5, 1, 100, pooled_queries=True, episodes=5000, samples=1000
    )
    assert named_protocol("versa", 5) == Protocol(5, 5, 5, episodes=600, samples=1000)
