"""A piece is a command whose output becomes its log."""

import shlex
import sys

import pytest

from samovar.cli.main import main
from samovar.cluster.piece import LONGEST_LOG, Piece, run_piece


def test_what_a_piece_prints_is_its_log(capsys):
    outcome = run_piece(main, Piece("list", ("presets",)))
    assert outcome.exit_code == 0
    assert not outcome.failed
    assert "glyphs" in outcome.log
    assert capsys.readouterr() == ("", "")


def test_bad_input_and_bad_flags_are_failures_with_their_reason():
    outcome = run_piece(main, Piece("nothing", ("predict", "no-such-task", "no-such-image")))
    assert outcome.failed
    assert "no-such-task" in outcome.log
    outcome = run_piece(main, Piece("nonsense", ("presets", "--nonsense")))
    assert (outcome.exit_code, outcome.failed) == (2, True)
    assert "nonsense" in outcome.log


@pytest.mark.parametrize(("code", "failed"), [(0, False), (1, False), (2, True)])
def test_the_piece_says_which_exit_codes_are_good(code, failed):
    assert run_piece(lambda _: code, Piece("a", (), accepted=(0, 1))).failed is failed


def test_an_engine_may_end_the_process_and_a_mistake_may_not():
    def end(_: list[str]) -> int:
        sys.exit(144)  # as submitit does when a job is preempted

    def mistake(_: list[str]) -> int:
        raise ZeroDivisionError("a mistake of ours")

    with pytest.raises(SystemExit):
        run_piece(end, Piece("a", ()))
    outcome = run_piece(mistake, Piece("a", ()))
    assert outcome.failed
    assert "a mistake of ours" in outcome.log


def test_only_the_end_of_a_long_log_is_kept():
    def chatter(arguments: list[str]) -> int:
        print("x" * 2 * LONGEST_LOG, file=sys.stderr)
        print("the end")
        return 0

    log = run_piece(chatter, Piece("long", ())).log
    assert len(log) == LONGEST_LOG
    assert log.endswith("the end\n")


def test_the_command_is_a_line_for_a_shell():
    piece = Piece("a", ("embed", "my photos/$x", "--out", "it's"))
    assert shlex.split(piece.command) == ["samovar", *piece.arguments]
