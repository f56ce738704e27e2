"""Impossible tasks are refused, and named protocols are those of the papers."""

import pytest

from samovar.errors import SettingsError
from samovar.settings.tasks import EpisodeSettings, Protocol, named_protocol


@pytest.mark.parametrize(
    ("wrong", "words"),
    [
        ({"way": 1}, "--episodes.way must be at least 2, but is 1"),
        ({"shot": 0}, "--episodes.shot must be at least 1"),
        ({"queries": -1}, "--episodes.queries must be at least 0"),
        ({"most_way": 2}, "--episodes.most-way must be at least --episodes.way, which is 5"),
    ],
)
def test_impossible_training_tasks_are_refused_by_the_flag(wrong, words):
    with pytest.raises(SettingsError, match=words):
        EpisodeSettings(**wrong)


@pytest.mark.parametrize(
    ("wrong", "words"),
    [
        ({"way": 1}, "--way must be at least 2, but is 1"),
        ({"shot": 0}, "--shot must be at least 1"),
        ({"queries": 0}, "--queries must be at least 1"),
        ({"episodes": 0}, "--episodes must be at least 1"),
        ({"outside": -1}, "--outside must be at least 0"),
        ({"samples": 10**7}, "--samples must be at most 1000000"),
    ],
)
def test_impossible_protocols_are_refused_by_the_flag_of_evaluate(wrong, words):
    with pytest.raises(SettingsError, match=words):
        Protocol(**wrong)


def test_named_protocols():
    assert named_protocol("paper", 5) == Protocol(5, 5, 15, episodes=5000, samples=1000)
    assert named_protocol("tadam", 1) == Protocol(
        5, 1, 100, pooled_queries=True, episodes=5000, samples=1000
    )
    assert named_protocol("versa", 5) == Protocol(5, 5, 5, episodes=600, samples=1000)
