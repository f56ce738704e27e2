"""Train several runs at the same time, each in its own process with its share of the cores.

Narrow networks hardly gain from a second core (ResNet-12 at a quarter of its width: 500 images/s on
one core, 531 on two), so several runs side by side finish sooner than one after the other.
"""

import os
import subprocess
import sys
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

from samovar.core.files import output_folder
from samovar.experiments.cell import Cell
from samovar.experiments.commands import training_arguments
from samovar.experiments.evidence import Workplace
from samovar.experiments.plan import estimated_seconds
from samovar.training.run_folder import RunFolder


def train_side_by_side(
    cells: list[Cell], place: Workplace, jobs: int, say: Callable[[str], None]
) -> list[str]:
    """Train cells in the order given, `jobs` at a time; return what failed.

    A failure does not stop the others. What a training prints is kept beside its run, as NAME.log.
    """
    # Without this each process would start as many threads as there are cores.
    cores = os.cpu_count() or 1
    environment = os.environ | {"OMP_NUM_THREADS": str(max(1, cores // jobs))}
    output_folder(place.runs)

    def train(cell: Cell) -> str | None:
        minutes = estimated_seconds(cell) / 60
        say(f"{cell.name}: training, about {minutes:.0f} minutes if it had two cores to itself")
        failure = _train_in_process(cell, place, environment)
        say(failure or f"{cell.name}: trained")
        return failure

    pool = ThreadPoolExecutor(jobs)
    try:
        return [failure for failure in pool.map(train, cells) if failure is not None]
    finally:
        # After Ctrl-C, which the trainings receive too, no further run is started.
        pool.shutdown(cancel_futures=True)


def _train_in_process(cell: Cell, place: Workplace, environment: dict[str, str]) -> str | None:
    """Train a cell in a new process; return a sentence if it failed."""
    command = [sys.executable, "-m", "samovar", *training_arguments(cell, place)]
    log = place.runs / f"{cell.name}.log"
    with log.open("wb") as output:
        finished = subprocess.run(
            command, stdout=output, stderr=subprocess.STDOUT, env=environment, check=False
        )
    if finished.returncode == 0:
        return None
    if RunFolder(place.run(cell)).diverged_at is not None:
        return None  # a result, which is kept beside those of the others
    return f"{cell.name}: training failed with exit code {finished.returncode}; see {log}"
