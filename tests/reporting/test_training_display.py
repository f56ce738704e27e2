"""A training is shown as plain lines and in files for TensorBoard."""

import json
import re
from dataclasses import replace

import pytest
from helpers_training import TINY, command

from samovar.cli.main import main
from samovar.reporting.training_display import TrainingDisplay, changed_settings, describe
from samovar.settings.presets import PRESETS

pytestmark = pytest.mark.usefixtures("toy_data")


def test_tensorboard_files_and_plain_lines(tmp_path, capsys):
    arguments = command(replace(TINY, updates=2), tmp_path / "run", "--tensorboard")
    assert main(arguments[arguments.index("train") :]) == 0
    assert list((tmp_path / "run" / "tensorboard").glob("events*"))
    lines = capsys.readouterr().err.splitlines()
    assert lines[0].startswith("training the preset glyphs with other settings (all settings: ")
    assert "  updates = 2 (preset: 700)" in lines
    assert max(map(len, lines)) < 160, "no wall of JSON"
    stored = json.loads((tmp_path / "run" / "config.json").read_bytes())
    assert stored["settings"]["updates"] == 2
    assert any(
        re.match(r"update 2/2  \d+ s left  .* images/s  loss .* NLL .* KL .* largest var", line)
        for line in lines
    )


def test_events_are_shown_as_they_are(tmp_path, capsys):
    with TrainingDisplay(TINY, tmp_path, tensorboard=False) as display:
        display({"event": "started from [bold]/models[/bold]"})
        display({"update": 3, "loss": 1.0})
        display({"update": 3, "validation_accuracy": 0.5})
    lines = capsys.readouterr().err.splitlines()
    assert lines[0] == "started from [bold]/models[/bold]"
    assert lines[1] == "update 3/12  loss 1.000"
    assert lines[2] == "update 3/12  validation 50.0% right  loss 1.000", "with the latest"


def test_only_known_metrics_are_described():
    assert describe({"update": 1, "gradient_norm": 1.0}) == ""
    assert describe({"kl": 12.34, "images_per_second": 99.6}) == "100 images/s  KL 12.3"


def test_only_what_differs_from_the_preset_is_listed(tmp_path):
    preset = PRESETS["glyphs"]
    changed = replace(preset.settings, optimizer=replace(preset.settings.optimizer, clip=0.1))
    lines = changed_settings(preset, changed, tmp_path)
    assert lines[1:] == ["  optimizer.clip = 0.1 (preset: 0)"]
    assert "config.json" in lines[0]
