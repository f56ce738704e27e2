"""The runner trains exactly the cells that it says, and a run that fails stops no other."""

import shlex
from dataclasses import replace

import pytest
import tyro
from helpers_experiments import ALL_CELLS

from samovar.cli.train import TrainCommand
from samovar.experiments.reproduce import Workplace, reproduce, shell_command, state_of
from samovar.settings.data import DataSettings
from samovar.settings.presets import PRESETS


@pytest.mark.parametrize("cell", ALL_CELLS.values(), ids=ALL_CELLS)
def test_printed_commands_train_exactly_the_cell(cell, tmp_path):
    words = shlex.split(shell_command(cell, Workplace(tmp_path, tmp_path)))
    assert words[:2] == ["samovar", "train"]
    parsed = tyro.cli(
        TrainCommand, default=TrainCommand(PRESETS[words[2]].settings), args=words[3:]
    )
    assert parsed.settings == cell.settings
    assert parsed.out == tmp_path / cell.name


def test_nothing_is_trained_when_only_the_measured_is_wanted(cells, tmp_path):
    place = Workplace(tmp_path / "runs", tmp_path / "results")
    reproduce(cells, place, lambda _: None, measure_only=True)
    assert not place.runs.exists()


def test_a_run_that_fails_stops_no_other(cells, tmp_path):
    place = Workplace(tmp_path / "runs", tmp_path / "out")
    bad = replace(
        cells[0], name="bad", settings=replace(cells[0].settings, data=DataSettings("nowhere"))
    )
    again = replace(bad, name="again")
    ready = replace(cells[1], only_ready=True)
    said: list[str] = []
    (failure,) = reproduce([bad, again, ready, cells[2]], place, said.append, measure_only=False)
    assert "nowhere" in failure
    assert [state_of(cell, place) for cell in (again, ready, cells[2])] == [
        "no data",
        "missing",
        "measured",
    ]
    assert not any("again: training" in line for line in said)
