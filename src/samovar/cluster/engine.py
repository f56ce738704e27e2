"""Run pieces on the engine that was chosen, keep their logs, and name those that failed.

One piece that fails does not stop the others. What they leave is found by whoever needs it: the
same command again, or the command that puts the results together.
"""

import hashlib
import re
from collections.abc import Iterator, Sequence

from samovar.cluster.piece import Main, Outcome, Piece, run_piece
from samovar.core.files import output_folder, write_whole
from samovar.core.progress import Progress, silent
from samovar.errors import RunError
from samovar.settings.engine import EngineSettings

INTERRUPTED = (130, 143)
"""The exit codes after Ctrl-C and SIGTERM."""
LONGEST_NAME = 150
"""Characters of a piece's name in that of its log; file systems take 255 bytes."""
MOST_NAMED = 10
"""Failed pieces that are named in an error; all have a log."""


def run_pieces(
    pieces: Sequence[Piece],
    main: Main,
    settings: EngineSettings,
    progress: Progress = silent,
) -> list[Outcome]:
    """Run pieces and return what came of them, as they ended; an error if any of them failed.

    What each piece printed is written into the folder of the logs.
    """
    if not pieces:
        return []
    logs = output_folder(settings.logs)
    outcomes: list[Outcome] = []
    for outcome in _outcomes(pieces, main, settings):
        outcomes.append(outcome)
        write_whole(logs / log_name(outcome.piece), outcome.log.encode(errors="backslashreplace"))
        share = len(outcomes) / len(pieces)
        progress(f"{len(outcomes)} of {len(pieces)} pieces", share)
    failed = [outcome for outcome in outcomes if outcome.failed]
    if failed:
        raise RunError(_failure(failed, len(pieces), settings))
    return outcomes


def _outcomes(pieces: Sequence[Piece], main: Main, settings: EngineSettings) -> Iterator[Outcome]:
    if settings.ray is not None:
        from samovar.cluster.ray_engine import run_on_ray

        return run_on_ray(pieces, main, settings)
    if settings.slurm is not None:
        from samovar.cluster.slurm_engine import run_on_slurm

        return run_on_slurm(pieces, main, settings)
    return _run_here(pieces, main)


def _run_here(pieces: Sequence[Piece], main: Main) -> Iterator[Outcome]:
    """Run pieces in this process, one after the other, until the user interrupts."""
    for piece in pieces:
        outcome = run_piece(main, piece)
        if outcome.exit_code in INTERRUPTED:
            raise KeyboardInterrupt
        yield outcome


def log_name(piece: Piece) -> str:
    """Return the name of the file that holds what a piece printed.

    >>> log_name(Piece("runs/a 5way", ()))
    'runs-a-5way.log'
    """
    name = re.sub(r"[^\w.-]+", "-", piece.name)
    if len(name) > LONGEST_NAME:
        digest = hashlib.sha256(name.encode(errors="surrogateescape")).hexdigest()[:8]
        name = f"{digest}-{name[-LONGEST_NAME:]}"
    return f"{name}.log"


def _failure(failed: Sequence[Outcome], count: int, settings: EngineSettings) -> str:
    lines = [f"{len(failed)} of {count} pieces failed; the others are finished:"]
    for outcome in failed[:MOST_NAMED]:
        log = settings.logs / log_name(outcome.piece)
        lines.append(f"  {outcome.piece.name}: {_last_line(outcome.log)} (see {log})")
    if len(failed) > MOST_NAMED:
        lines.append(f"  and {len(failed) - MOST_NAMED} more, with logs in {settings.logs}")
    lines.append("The same command tries them again.")
    return "\n".join(lines)


def _last_line(log: str) -> str:
    lines = log.strip().splitlines()
    if not lines:
        return "it printed nothing"
    return lines[-1].strip()
