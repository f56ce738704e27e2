"""`samovar check` prints a few lines of each kind."""

import dataclasses

from helpers_check import FULL
from rich.console import Console

from samovar.reporting.check_tables import MOST_LINES, print_check


def test_each_kind_has_its_lines(capsys):
    print_check(Console(width=100), FULL)
    printed = capsys.readouterr().out
    for text in (
        "Probably wrong labels:",
        "cat? dog",
        "(in two classes)",
        "pear and quince: 5 of 12 images",
        "plum: 1",
        "another camera",
        "30 images were checked.",
    ):
        assert text in printed


def test_many_are_cut_and_counted(capsys):
    print_check(Console(width=100), dataclasses.replace(FULL, small=FULL.small * 20))
    printed = capsys.readouterr().out
    assert f"... and {40 - MOST_LINES} more" in printed
