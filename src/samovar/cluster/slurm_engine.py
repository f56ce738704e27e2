"""Pieces on SLURM: arrays of jobs by submitit, or processes of this machine in their place.

A job that is preempted or runs out of time is submitted again by submitit, and its piece goes on
where it was. Submitit keeps its own files in the folder of the logs.
"""

import os
from collections.abc import Iterator, Sequence
from typing import Any

from samovar.cluster.piece import DIED, LONGEST_LOG, Main, Outcome, Piece, run_piece
from samovar.core.files import output_folder
from samovar.errors import SettingsError
from samovar.settings.engine import DEFAULT_PARTITION, LOCAL, EngineSettings

LARGEST_ARRAY = 1000
"""Jobs in one array: SLURM refuses more unless it was set up for more."""
MOST_INTERRUPTIONS = 100
"""How often a job may run out of time before it is given up."""
PATIENCE = {True: 0.2, False: 10.0}
"""Seconds between two looks at which jobs have ended: here, and on a cluster that others use."""


class RestartablePiece:
    """A piece as submitit runs it."""

    def __init__(self, main: Main, piece: Piece) -> None:
        self.main = main
        self.piece = piece

    def __call__(self) -> Outcome:
        """Run the piece."""
        return run_piece(self.main, self.piece)

    def checkpoint(self) -> Any:
        """Return what is to be done by the next job when this one is cut off: the same again."""
        from submitit.helpers import DelayedSubmission

        return DelayedSubmission(self)


def run_on_slurm(
    pieces: Sequence[Piece], main: Main, settings: EngineSettings
) -> Iterator[Outcome]:
    """Run pieces as SLURM jobs, or as processes here, and yield what came of each as they end."""
    here = settings.slurm == LOCAL
    executor = _executor(settings, here=here)
    if here:
        # SLURM would start as many jobs as there are cores for; here that is up to us.
        at_once = max(1, (os.cpu_count() or 1) // settings.cpus)
        for wave in _groups(pieces, at_once):
            yield from _outcomes(_submit(executor, main, wave), here=here)
        return
    jobs: dict[Any, Piece] = {}
    for array in _groups(pieces, LARGEST_ARRAY):
        jobs |= _submit(executor, main, array)
    yield from _outcomes(jobs, here=here)


def _executor(settings: EngineSettings, *, here: bool) -> Any:
    try:
        import submitit
    except ImportError as error:
        raise SettingsError("--slurm needs submitit: pip install 'samovar[slurm]'.") from error
    folder = output_folder(settings.logs / "submitit")
    try:
        executor = submitit.AutoExecutor(
            folder=folder.resolve(),
            cluster="local" if here else "slurm",
            slurm_max_num_timeout=MOST_INTERRUPTIONS,
        )
    except RuntimeError as error:  # there is no SLURM on this machine
        raise SettingsError(
            f"Pieces cannot be submitted to SLURM from here ({error}). Use --slurm local to try "
            "them on this machine."
        ) from error
    executor.update_parameters(
        name="samovar",
        timeout_min=round(60 * settings.hours),
        cpus_per_task=settings.cpus,
        gpus_per_node=settings.gpus,
        slurm_additional_parameters=_slurm_options(settings),
    )
    return executor


def _slurm_options(settings: EngineSettings) -> dict[str, str]:
    options = {}
    if settings.slurm not in (LOCAL, DEFAULT_PARTITION):
        options["partition"] = str(settings.slurm)
    for option in settings.slurm_options:
        name, _, value = option.partition("=")
        options[name.lstrip("-")] = value
    return options


def _groups(pieces: Sequence[Piece], size: int) -> Iterator[Sequence[Piece]]:
    for first in range(0, len(pieces), size):
        yield pieces[first : first + size]


def _submit(executor: Any, main: Main, pieces: Sequence[Piece]) -> dict[Any, Piece]:
    """Submit pieces as one array; return the job of each."""
    with executor.batch():
        jobs = [executor.submit(RestartablePiece(main, piece)) for piece in pieces]
    return dict(zip(jobs, pieces, strict=True))


def _outcomes(jobs: dict[Any, Piece], *, here: bool) -> Iterator[Outcome]:
    from submitit.helpers import as_completed

    unfinished = dict(jobs)
    try:
        for job in as_completed(list(jobs), poll_frequency=PATIENCE[here]):
            yield _outcome(job, unfinished.pop(job))
    finally:
        for job in unfinished:
            job.cancel(check=False)


def _outcome(job: Any, piece: Piece) -> Outcome:
    error = job.exception()
    if error is None:
        outcome: Outcome = job.result()
        return outcome
    printed = job.stderr() or ""
    log = f"The job {job.job_id} did not finish this piece ({error}).\n{printed}"
    return Outcome(piece, DIED, log[-LONGEST_LOG:])
