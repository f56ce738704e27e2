"""The command line has quick help, and turns errors into sentences and exit codes."""

import errno
import signal
import subprocess
import sys

import pytest

import samovar
from samovar.cli import main as module
from samovar.cli.command import Command
from samovar.cli.main import main
from samovar.core.interrupts import Stopped
from samovar.errors import DataError

NAMES = (
    "fit",
    "predict",
    "score",
    "serve",
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
        (KeyboardInterrupt(), 130, "samovar: interrupted."),
        (Stopped(signal.SIGTERM), 143, "samovar: interrupted."),
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


def test_only_commands_that_can_continue_say_so(monkeypatch, capsys):
    stand_in(monkeypatch, KeyboardInterrupt())
    assert main(["train", "glyphs"]) == 130
    assert "resumes the run from its last checkpoint" in capsys.readouterr().err
    assert main(["predict", "pets.safetensors"]) == 130
    assert capsys.readouterr().err == "samovar: interrupted.\n"


@pytest.mark.parametrize(
    "error",
    [
        MemoryError(),
        RuntimeError("DefaultCPUAllocator: can't allocate memory: you tried to allocate 9 bytes."),
        OSError(errno.ENOMEM, "Cannot allocate memory"),
    ],
)
def test_too_little_memory_is_a_sentence_and_exit_code_1(error, monkeypatch, capsys):
    stand_in(monkeypatch, error)
    assert main([]) == 1
    assert "samovar: There is not enough memory" in capsys.readouterr().err


def test_an_error_shows_no_control_characters_and_is_not_long(monkeypatch, capsys):
    stand_in(monkeypatch, DataError("bad \x1b[31mname\r" + "x" * 10**5 + "\nsamovar: fine"))
    assert main([]) == 2
    text = capsys.readouterr().err
    assert text.startswith("samovar: bad ?[31mname?")
    assert len(text) < 3000
    assert "\nsamovar" not in text


def test_the_version_is_printed(capsys):
    assert main(["--version"]) == 0
    assert capsys.readouterr().out == f"samovar {samovar.__version__}\n"
