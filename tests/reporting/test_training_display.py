"""A training is shown as plain lines and in files for TensorBoard."""

import json
import re
from dataclasses import replace

import pytest
from helpers_training import TINY, command

from samovar.cli.main import main
from samovar.reporting.training_display import TrainingDisplay, describe

pytestmark = pytest.mark.usefixtures("toy_data")


def test_tensorboard_files_and_plain_lines(tmp_path, capsys):
    arguments = command(replace(TINY, updates=2), tmp_path / "run", "--tensorboard")
    assert main(arguments[arguments.index("train") :]) == 0
    assert list((tmp_path / "run" / "tensorboard").glob("events*"))
    lines = capsys.readouterr().err.splitlines()
    assert json.loads(lines[0])["updates"] == 2, "the resolved settings are printed"
    assert any(
        re.match(r"update 2/2  loss .* NLL .* KL .* largest variance .* images/s .* s left", line)
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
    assert lines[2] == "update 3/12  loss 1.000  validation 50.00%", "together with the latest"


def test_only_known_metrics_are_described():
    assert describe({"update": 1, "gradient_norm": 1.0}) == ""
    assert describe({"kl": 12.34, "images_per_second": 99.6}) == "KL 12.3  100 images/s"
