"""A training is shown as plain lines and in files for TensorBoard."""

import json
import re
from dataclasses import replace

import pytest
from helpers_training import TINY, command

from samovar.cli.main import main

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
