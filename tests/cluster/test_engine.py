"""Pieces that fail are named with their logs, and the others finish."""

import pytest

from samovar.cluster.engine import log_name, run_pieces
from samovar.cluster.piece import Piece
from samovar.errors import RunError
from samovar.settings.engine import EngineSettings


def sums(arguments: list[str]) -> int:
    """A command that fails where it meets a word."""
    try:
        print(f"the sum is {sum(map(int, arguments))}")
    except ValueError as error:
        print(f"samovar: {error}")
        return 2
    return 0


def test_all_pieces_run_and_their_logs_are_kept(tmp_path):
    pieces = [Piece(f"piece {number}", (str(number), "1")) for number in range(3)]
    news = []
    settings = EngineSettings(logs=tmp_path / "logs")
    outcomes = run_pieces(pieces, sums, settings, lambda *args: news.append(args))
    assert [outcome.piece for outcome in outcomes] == pieces
    assert (tmp_path / "logs" / "piece-2.log").read_text() == "the sum is 3\n"
    assert news[-1] == ("3 of 3 pieces", 1.0)


def test_failures_are_named_and_do_not_stop_the_others(tmp_path):
    pieces = [Piece("good", ("1",)), Piece("bad", ("one",)), Piece("last", ("2",))]
    with pytest.raises(RunError) as error:
        run_pieces(pieces, sums, EngineSettings(logs=tmp_path))
    text = str(error.value)
    assert "1 of 3 pieces failed" in text
    assert "bad: samovar: invalid literal" in text
    assert str(tmp_path / "bad.log") in text
    assert (tmp_path / "last.log").read_text() == "the sum is 2\n"


def test_many_failures_are_counted(tmp_path):
    pieces = [Piece(f"bad-{number}", ("x",)) for number in range(30)]
    with pytest.raises(RunError, match="and 20 more"):
        run_pieces(pieces, sums, EngineSettings(logs=tmp_path))
    assert len(list(tmp_path.glob("*.log"))) == 30


def test_without_pieces_no_engine_is_started(tmp_path):
    assert run_pieces([], sums, EngineSettings(ray="nowhere:1", logs=tmp_path / "logs")) == []
    assert not (tmp_path / "logs").exists()


def test_an_interruption_ends_all(tmp_path):
    begun = []

    def interrupted(arguments: list[str]) -> int:
        begun.append(arguments)
        return 130

    with pytest.raises(KeyboardInterrupt):
        run_pieces([Piece("a", ()), Piece("b", ())], interrupted, EngineSettings(logs=tmp_path))
    assert len(begun) == 1


def test_long_names_have_logs_too(tmp_path):
    pieces = [Piece("x" * 300, ("1",)), Piece("y" + "x" * 299, ("2",))]
    run_pieces(pieces, sums, EngineSettings(logs=tmp_path))
    assert len(list(tmp_path.glob("*.log"))) == 2


def test_names_of_logs_stay_in_their_folder():
    assert "/" not in log_name(Piece("../../etc/passwd", ()))
    assert log_name(Piece("runs/a-5way", ())) == "runs-a-5way.log"
