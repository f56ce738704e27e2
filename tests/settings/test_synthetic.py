"""Impossible studies are refused, and the quick one is smaller."""

from dataclasses import asdict

import pytest

from samovar.errors import SettingsError
from samovar.settings.synthetic import SyntheticSettings


@pytest.mark.parametrize(
    ("wrong", "words"),
    [
        ({"sigma_y": (0.1, -1.0)}, "--sigma-y must be greater than zero and finite, but is 0.1 -1"),
        ({"learning_rate": float("inf")}, "--learning-rate must be greater than zero and finite"),
        ({"tasks": 10**400}, "--tasks must be at most 1,000,000,000"),
        ({"tasks": 0}, "--tasks must be greater than zero"),
        ({"samples": ()}, "--samples needs at least one value"),
        ({"samples": (3, 3)}, "none of them twice"),
    ],
)
def test_impossible_studies_are_refused_by_the_flag(wrong, words):
    with pytest.raises(SettingsError, match=words):
        SyntheticSettings(**wrong)


def test_the_quick_study_differs_in_seeds_and_steps_only():
    whole = asdict(SyntheticSettings(seed=3))
    quick = asdict(SyntheticSettings(seed=3).quick())
    changed = {name for name in whole if whole[name] != quick[name]}
    assert changed == {"seeds", "monte_carlo_seeds", "steps"}
    assert all(quick[name] < whole[name] for name in changed)
    small = SyntheticSettings(seeds=2, monte_carlo_seeds=1, steps=3)
    assert small.quick() == small
