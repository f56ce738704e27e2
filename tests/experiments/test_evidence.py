"""Kept evidence counts only for the settings and tasks it was measured with."""

import json
from dataclasses import replace

import pytest

from samovar.errors import RunError
from samovar.experiments.reproduce import Workplace, reproduce, state_of


def test_evidence_of_other_settings_does_not_count(cells, tmp_path):
    place = Workplace(tmp_path / "runs", tmp_path / "results")
    reproduce(cells[:1], place, lambda _: None, measure_only=False)
    changed = replace(cells[0], settings=replace(cells[0].settings, updates=5))
    assert state_of(cells[0], place) == "measured"
    assert state_of(changed, place) == "missing"
    for other in (replace(cells[0].protocol, episodes=30), replace(cells[0].protocol, seed=1)):
        assert (
            state_of(replace(cells[0], protocol=other), place) == "trained"
        )  # to be measured once more
    assert json.loads(place.training(cells[0]).read_text())["samples"]["tasks"] == 25
    (place.evidence(cells[0]) / "evaluation.json").write_text('{"protocol": ')
    with pytest.raises(RunError, match=r"evaluation.json cannot be read"):
        state_of(cells[0], place)


def test_samples_of_other_tasks_are_measured_again(cells, tmp_path):
    place = Workplace(tmp_path / "runs", tmp_path / "out")
    reproduce(cells[:1], place, lambda _: None, measure_only=False)
    path = place.training(cells[0])
    kept = json.loads(path.read_text())
    path.write_text(json.dumps(kept | {"samples": kept["samples"] | {"tasks": 7}}))
    assert state_of(cells[0], place) == "trained"
    reproduce(cells[:1], place, lambda _: None, measure_only=True)
    assert json.loads(path.read_text())["samples"] == kept["samples"]
