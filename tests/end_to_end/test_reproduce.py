"""Experiments go from nothing to tables, also with trainings side by side."""

from dataclasses import replace

import numpy as np
import pytest

from samovar.experiments import command, studies, tables
from samovar.experiments.parallel import train_together
from samovar.experiments.reproduce import Workplace, reproduce, state_of
from samovar.settings.data import DataSettings
from samovar.training.run import train
from samovar.training.run_folder import read_metrics


@pytest.mark.slow
def test_from_nothing_to_tables_and_back_without_weights(cells, tmp_path):
    place = Workplace(tmp_path / "runs", tmp_path / "results")
    said: list[str] = []
    assert {state_of(cell, place) for cell in cells} == {"missing"}
    empty = tables.table("table1", "cpu", cells, place)
    assert "ready to run" in empty.text
    reproduce(cells[:3], place, said.append, measure_only=False)
    assert [state_of(cell, place) for cell in cells] == [
        "measured",
        "measured",
        "measured",
        "missing",
    ]
    written = tables.table("table1", "cpu", cells, place)
    ours = {each["row"]: each["ours"] for each in written.data["cells"]}
    assert (len(ours["samovar"]["seeds"]), len(ours["versa"]["seeds"])) == (2, 1)
    (pair,) = written.data["paired"]
    assert pair["published"] == pytest.approx(0.1)
    with (
        np.load(place.evidence(cells[0]) / "evaluation.npz") as a,
        np.load(place.evidence(cells[2]) / "evaluation.npz") as b,
    ):
        assert pair["mean"] == pytest.approx(
            (a["predictive_accuracy"] - b["predictive_accuracy"]).mean(), abs=1e-6
        )
    assert "cpu scale" in written.text
    assert "paper 50.0" in written.text
    for path in sorted(place.runs.rglob("*"), reverse=True):  # weights and checkpoints are gone
        path.rmdir() if path.is_dir() else path.unlink()
    assert tables.table("table1", "cpu", cells, place).data == written.data
    shots = studies.shots(cells, place)
    assert {each["shot"] for each in shots.data["results"]} == {1, 2}
    for name in ("table1", "shots", "calibration", "collapse"):
        _, picture = command.build(name, "cpu", cells, place)
        assert picture is not None
        assert picture.startswith(b"\x89PNG")
    beta = [replace(cell, row=str(1.0 + i)) for i, cell in enumerate(cells[:2])]
    text, picture = command.build("beta", "cpu", beta, place)
    assert "posterior single" in text.text
    assert picture is not None


@pytest.mark.slow
def test_trainings_side_by_side_are_those_in_turn(cells, tmp_path):
    together, in_turn = (
        Workplace(tmp_path / "a", tmp_path / "out"),
        Workplace(tmp_path / "b", tmp_path / "out"),
    )
    train_together(cells[:2], together, 2, lambda _: None)
    for cell in cells[:2]:
        assert state_of(cell, together) == "trained"
        train(cell.settings, in_turn.runs / cell.name)
        first = [
            read_metrics(place.runs / cell.name / "metrics.jsonl")[0]
            for place in (together, in_turn)
        ]
        assert first[0]["loss"] == pytest.approx(
            first[1]["loss"], rel=1e-4
        )  # their threads differ, so later bits may


@pytest.mark.slow
def test_a_failed_training_is_reported_with_its_log(cells, tmp_path):
    place = Workplace(tmp_path / "runs", tmp_path / "out")
    missing = replace(cells[0], settings=replace(cells[0].settings, data=DataSettings("nowhere")))
    (failure,) = train_together([missing], place, 2, lambda _: None)
    assert f"{missing.name}.log" in failure
    assert "nowhere" in (place.runs / f"{missing.name}.log").read_text()
