"""`samovar serve` says what is wrong before it listens."""

import sys

import pytest

from samovar.cli.main import main


@pytest.mark.parametrize(
    ("flags", "words"),
    [
        (["--host", "0.0.0.0"], "give a --token"),
        (["--host", "0.0.0.0", "--token", "short"], "at least 16"),
        (["--token", "0123456789abcdef", "--no-token"], "Choose one"),
        (["--model", "nothing"], "no model 'nothing'"),
        (["--port", "99999"], "Choose another --port"),
        (["--workers", "0"], "--workers must be"),
        (["--tasks", "/proc/nothing"], "Cannot write into"),
    ],
)
def test_wrong_flags_are_refused_in_a_sentence(flags, words, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    assert main(["serve", *flags]) == 2
    assert words in capsys.readouterr().err


def test_a_short_token_in_the_environment_is_refused_too(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("SAMOVAR_TOKEN", "short")
    assert main(["serve"]) == 2
    assert "at least 16" in capsys.readouterr().err


def test_what_is_missing_is_said(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    for name in [name for name in sys.modules if name.startswith("samovar.service")]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "fastapi", None)
    assert main(["serve"]) == 2
    assert "pip install 'samovar[serve]'" in capsys.readouterr().err
