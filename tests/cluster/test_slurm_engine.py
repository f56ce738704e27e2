"""Pieces as jobs of submitit: here by its local executor, which runs them as processes."""

import os
import signal
from pathlib import Path

import pytest

from samovar.cluster.engine import run_pieces
from samovar.cluster.piece import Piece
from samovar.cluster.slurm_engine import LARGEST_ARRAY, RestartablePiece, _groups, _slurm_options
from samovar.errors import RunError, SettingsError
from samovar.settings.engine import EngineSettings

pytest.importorskip("submitit", reason="submitit is not installed (samovar[slurm])")


@pytest.mark.slow
def test_pieces_run_in_processes_of_their_own(tmp_path):
    def number(arguments: list[str]) -> int:
        Path(arguments[0]).write_text(str(os.getpid()))
        print("written")
        return 0

    pieces = [Piece(name, (str(tmp_path / name),)) for name in "abc"]
    outcomes = run_pieces(pieces, number, EngineSettings(slurm="local", logs=tmp_path / "logs"))
    assert {outcome.piece.name for outcome in outcomes} == set("abc")
    processes = {(tmp_path / name).read_text() for name in "abc"}
    assert len(processes) == 3
    assert str(os.getpid()) not in processes
    assert (tmp_path / "logs" / "a.log").read_text() == "written\n"


@pytest.mark.slow
def test_a_job_that_dies_or_fails_is_named_and_the_others_finish(tmp_path):
    def fate(arguments: list[str]) -> int:
        if arguments[0] == "die":
            os.kill(os.getpid(), signal.SIGKILL)
        if arguments[0] == "raise":
            raise RuntimeError("a mistake of ours")
        return 0

    pieces = [Piece(name, (name,)) for name in ("die", "live", "raise")]
    with pytest.raises(RunError) as error:
        run_pieces(pieces, fate, EngineSettings(slurm="local", logs=tmp_path))
    assert "2 of 3 pieces failed" in str(error.value)
    assert "die:" in str(error.value)
    assert "a mistake of ours" in (tmp_path / "raise.log").read_text()


@pytest.mark.slow
def test_a_job_that_is_preempted_goes_on_in_another(tmp_path):
    def cut_off_once(arguments: list[str]) -> int:
        mark = Path(arguments[0])
        if not mark.exists():
            mark.write_text("begun")
            os.kill(os.getpid(), signal.SIGUSR2)  # as SLURM says that the time is over
        mark.write_text("finished")
        return 0

    piece = Piece("a", (str(tmp_path / "mark"),))
    (outcome,) = run_pieces([piece], cut_off_once, EngineSettings(slurm="local", logs=tmp_path))
    assert not outcome.failed
    assert (tmp_path / "mark").read_text() == "finished"


def test_a_job_that_is_cut_off_does_the_same_again():
    piece = RestartablePiece(lambda _: 0, Piece("a", ()))
    again = piece.checkpoint()
    assert again.function is piece
    assert again.function().exit_code == 0


def test_without_slurm_there_is_a_sentence(tmp_path):
    with pytest.raises(SettingsError, match="--slurm local"):
        run_pieces([Piece("a", ())], lambda _: 0, EngineSettings(slurm="gpu", logs=tmp_path))


def test_options_reach_sbatch():
    settings = EngineSettings(slurm="gpu", slurm_options=("--account=lab", "qos=a=b"))
    assert _slurm_options(settings) == {"partition": "gpu", "account": "lab", "qos": "a=b"}
    assert _slurm_options(EngineSettings(slurm="default")) == {}


def test_arrays_are_as_large_as_slurm_takes_them():
    pieces = [Piece(str(number), ()) for number in range(2500)]
    groups = list(_groups(pieces, LARGEST_ARRAY))
    assert [len(group) for group in groups] == [1000, 1000, 500]
    assert [piece for group in groups for piece in group] == pieces
