"""Commands are found by their names, at any depth, and explain themselves."""

import pytest

from samovar.cli.command import Command, description, flowing, from_function, group


def boil(*, litres: float = 1.0, salt: bool = False) -> int:
    """Boil water.

    Takes minutes.

    Args:
        litres: How much.
        salt: Whether to add salt, in a sentence that is long enough to be continued on
            another line.
    """
    print(f"{litres:g} litres are boiling")
    return 3


def pour(*, cups: int) -> None:
    """Pour tea.

    Args:
        cups: How many.
    """
    print(f"{cups} cups are full")


TEA = group(
    "kitchen tea",
    "Everything about tea.",
    (from_function("kitchen tea boil", boil), from_function("kitchen tea pour", pour)),
)
KITCHEN = group("kitchen", "A kitchen.", (TEA, Command("kitchen echo", "Repeat.", print)))


def test_a_command_inside_a_group_gets_its_flags_and_gives_its_exit_code(capsys):
    assert KITCHEN.run(["tea", "boil", "--litres", "2.5"]) == 3
    assert capsys.readouterr().out == "2.5 litres are boiling\n"
    assert KITCHEN.run(["tea", "pour", "--cups", "2"]) is None


def test_a_command_may_parse_its_arguments_itself(capsys):
    assert KITCHEN.run(["echo", "--any", "thing"]) is None
    assert capsys.readouterr().out == "['--any', 'thing']\n"


@pytest.mark.parametrize("arguments", [[], ["--help"]])
def test_a_group_lists_its_commands_with_their_help(arguments, capsys):
    with pytest.raises(SystemExit) as stop:
        KITCHEN.run(["tea", *arguments])
    assert stop.value.code == 0
    out = capsys.readouterr().out
    for words in ("usage: kitchen tea ", "Everything about tea.", "boil", "Boil water.", "pour"):
        assert words in out
    assert "How much." not in out
    assert "Takes minutes." not in out, "a line for each command; the rest is in its own help"


def test_a_command_explains_its_flags(capsys):
    with pytest.raises(SystemExit):
        KITCHEN.run(["tea", "boil", "--help"])
    out = capsys.readouterr().out
    assert "usage: kitchen tea boil" in out
    assert "How much." in out


def test_help_flows_whatever_the_lines_of_the_docstring_are(capsys, monkeypatch):
    """tyro breaks the line before what is indented: the sentence must come out whole."""
    monkeypatch.setenv("COLUMNS", "300")
    with pytest.raises(SystemExit):
        KITCHEN.run(["tea", "boil", "--help"])
    assert "long enough to be continued on another line." in capsys.readouterr().out
    text = flowing("A\n(b).\n\nArgs:\n    c: d\n        --e f.\n    g: h.")
    assert text == "A (b).\n\nArgs:\n    c: d --e f.\n    g: h."


def test_an_unknown_command_is_refused_and_the_known_ones_are_named(capsys):
    with pytest.raises(SystemExit) as stop:
        KITCHEN.run(["tea", "spill"])
    assert stop.value.code == 2
    error = capsys.readouterr().err
    assert "spill" in error
    assert "boil, pour" in error


def test_a_description_is_the_docstring_without_the_arguments():
    assert description(boil) == "Boil water.\n\nTakes minutes."
    assert TEA.name == "tea"
