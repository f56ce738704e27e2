"""The command line has quick help, and turns errors into sentences and exit codes."""

import subprocess
import sys

import pytest

import samovar
from samovar.cli import main as module
from samovar.cli.command import Command
from samovar.cli.main import main
from samovar.errors import DataError

NAMES = (
    "fit",
    "predict",
    "score",
    "task",
    "train",
    "evaluate",
    "compare",
    "reproduce",
    "presets",
    "synthetic",
)


def stand_in(monkeypatch, error: BaseException) -> None:
    """Let `samovar` be a command that fails."""

    def fail(arguments: list[str]) -> None:
        assert "--debug" not in arguments
        raise error

    monkeypatch.setattr(module, "SAMOVAR", Command("samovar", "", fail))


@pytest.mark.slow
def test_help_loads_no_torch():
    script = """
import sys
from samovar.cli.main import main
try:
    main(["--help"])
except SystemExit:
    pass
heavy = {"torch", "matplotlib", "numpy"} & set(sys.modules)
assert not heavy, heavy
"""
    subprocess.run([sys.executable, "-c", script], check=True, capture_output=True)


def test_help_and_no_arguments_explain_the_commands(capsys):
    for arguments in (["--help"], []):
        with pytest.raises(SystemExit) as stop:
            main(arguments)
        assert stop.value.code == 0
        out = capsys.readouterr().out
        for name in NAMES:
            assert f"• {name} " in out
        assert "Train a model: samovar train PRESET" in out
        assert "evaluation.npz" not in out, "details are in the help of each command"


@pytest.mark.parametrize("name", NAMES)
def test_every_command_has_its_own_help(name, capsys):
    with pytest.raises(SystemExit) as stop:
        main([name, "--help"])
    assert stop.value.code == 0
    assert f"usage: samovar {name}" in capsys.readouterr().out


def test_help_after_train_is_that_of_the_preset(capsys):
    with pytest.raises(SystemExit):
        main(["train", "--help"])
    default = capsys.readouterr().out
    with pytest.raises(SystemExit):
        main(["train", "glyphs", "--help"])
    assert capsys.readouterr().out == default
    assert "usage: samovar train glyphs" in default


@pytest.mark.parametrize(
    ("error", "code", "words"),
    [
        (DataError("There is no cat."), 2, "samovar: There is no cat."),
        (PermissionError(13, "Permission denied", "cat.png"), 2, "Permission denied: 'cat.png'"),
        (KeyboardInterrupt(), 130, "Run the same command again"),
    ],
)
def test_an_error_is_a_sentence_and_an_exit_code_or_a_traceback_with_debug(
    error, code, words, monkeypatch, capsys
):
    stand_in(monkeypatch, error)
    assert main(["data", "list"]) == code
    assert words in capsys.readouterr().err
    with pytest.raises(type(error)):
        main(["data", "list", "--debug"])


def test_a_mistake_of_ours_is_not_hidden(monkeypatch):
    stand_in(monkeypatch, ZeroDivisionError())
    with pytest.raises(ZeroDivisionError):
        main(["data", "list"])


def test_the_exit_code_of_a_command_is_that_of_the_program(monkeypatch):
    for code in (None, 0, 1):
        monkeypatch.setattr(module, "SAMOVAR", Command("samovar", "", lambda _, code=code: code))
        assert main([]) == (code or 0)


def test_the_version_is_printed(capsys):
    assert main(["--version"]) == 0
    assert capsys.readouterr().out == f"samovar {samovar.__version__}\n"
