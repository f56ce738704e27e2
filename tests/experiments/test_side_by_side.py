"""Trainings side by side are those in turn, and a failed one has its log."""

from dataclasses import replace

import pytest

from samovar.experiments.evidence import Evidence, Workplace
from samovar.experiments.side_by_side import train_side_by_side
from samovar.settings.data import DataSettings
from samovar.settings.training import OptimizerSettings
from samovar.training.run import train
from samovar.training.stored_metrics import read_metrics


@pytest.mark.slow
def test_trainings_side_by_side_are_those_in_turn(cells, tmp_path):
    together = Workplace(tmp_path / "a", tmp_path / "out")
    in_turn = Workplace(tmp_path / "b", tmp_path / "out")
    assert train_side_by_side(cells[:2], together, 2, lambda _: None) == []
    for cell in cells[:2]:
        assert Evidence(cell, together).state == "trained"
        train(cell.settings, in_turn.run(cell))
        losses = []
        for place in (together, in_turn):
            losses.append(read_metrics(place.run(cell) / "metrics.jsonl")[0]["loss"])
        assert losses[0] == pytest.approx(
            losses[1], rel=1e-4
        )  # their threads differ, later bits too


@pytest.mark.slow
def test_a_failed_training_is_reported_with_its_log(cells, tmp_path):
    place = Workplace(tmp_path / "runs", tmp_path / "out")
    missing = replace(cells[0], settings=replace(cells[0].settings, data=DataSettings("nowhere")))
    wild = replace(cells[1].settings, optimizer=OptimizerSettings("sgd", 1e30, schedule="constant"))
    diverging = replace(cells[1], settings=wild)
    (failure,) = train_side_by_side([missing, diverging], place, 2, lambda _: None)
    assert Evidence(diverging, place).state == "trained"  # that it diverged is to be recorded
    assert f"{missing.name}.log" in failure
    assert "nowhere" in (place.runs / f"{missing.name}.log").read_text()
