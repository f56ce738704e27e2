"""`samovar task` explains what is not a task file."""

import pytest

from samovar.cli.main import main


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("task", "nowhere.safetensors"), "not a task file"),
    ],
)
def test_mistakes_are_explained(arguments, words, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    assert main(list(arguments)) == 2
    assert words in capsys.readouterr().err
