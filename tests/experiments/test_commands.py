"""The printed command trains exactly the cell."""

import shlex
from pathlib import Path

import pytest
import tyro
from helpers_experiments import ALL_CELLS

from samovar.cli.train import TrainCommand
from samovar.experiments.commands import cell_piece, nearest_preset, training_arguments
from samovar.experiments.evidence import Workplace
from samovar.experiments.options import ReproduceOptions
from samovar.settings.presets import PRESETS


@pytest.mark.parametrize("cell", ALL_CELLS.values(), ids=ALL_CELLS)
def test_arguments_train_exactly_the_cell(cell, tmp_path):
    words = training_arguments(cell, Workplace(tmp_path, tmp_path))
    assert words[0] == "train"
    parsed = tyro.cli(
        TrainCommand, default=TrainCommand(PRESETS[words[1]].settings), args=words[2:]
    )
    assert parsed.settings == cell.settings
    assert parsed.out == tmp_path / cell.name


def test_the_command_of_a_piece_names_the_cell_and_whole_paths(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (cell, *_) = ALL_CELLS.values()
    options = ReproduceOptions(runs=Path("runs"), out=Path("s3://bucket/results"))
    words = shlex.split(cell_piece(cell, options).command)
    assert words[:4] == ["samovar", "reproduce", "--cell", cell.name]
    assert words[words.index("--runs") + 1] == str(tmp_path / "runs")
    assert words[words.index("--out") + 1] == "s3://bucket/results"


def test_a_piece_keeps_weights_where_the_command_does(tmp_path):
    (cell, *_) = ALL_CELLS.values()
    options = ReproduceOptions(runs=tmp_path, out=tmp_path)
    assert "--keep-weights" not in cell_piece(cell, options).arguments
    keeping = ReproduceOptions(runs=tmp_path, out=tmp_path, keep_weights=True)
    assert "--keep-weights" in cell_piece(cell, keeping).arguments


def test_the_preset_of_a_cell_is_the_nearest_one():
    for cell in ALL_CELLS.values():
        if cell.preset in PRESETS and PRESETS[cell.preset].settings == cell.settings:
            assert nearest_preset(cell).name == cell.preset
