"""The printed command trains exactly the cell."""

import shlex

import pytest
import tyro
from helpers_experiments import ALL_CELLS

from samovar.cli.train import TrainCommand
from samovar.experiments.commands import nearest_preset, shell_command
from samovar.experiments.evidence import Workplace
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


def test_the_preset_of_a_cell_is_the_nearest_one():
    for cell in ALL_CELLS.values():
        if cell.preset in PRESETS and PRESETS[cell.preset].settings == cell.settings:
            assert nearest_preset(cell).name == cell.preset
