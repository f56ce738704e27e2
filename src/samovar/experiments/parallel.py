"""Several trainings at a time, each in a process of its own with its share of the cores.

Narrow networks hardly gain from a second core (ResNet-12 of a quarter width: 500 images/s on one, 531 on two), so
several trainings side by side are done sooner than in turn.
"""

import os
import shlex
import subprocess
import sys
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

from samovar.core.files import output_folder
from samovar.experiments.cells import Cell
from samovar.experiments.reproduce import Workplace, estimated_seconds, shell_command


def train_together(
    cells: list[Cell], place: Workplace, jobs: int, watch: Callable[[str], None]
) -> list[str]:
    """Train cells in the order given, `jobs` at a time; returns what failed, which stops no other.

    What a training prints is kept beside its run, as NAME.log.
    """
    environment = os.environ | {"OMP_NUM_THREADS": str(max(1, (os.cpu_count() or 1) // jobs))}
    output_folder(place.runs)

    def run(cell: Cell) -> str | None:
        watch(
            f"{cell.name}: training, about {estimated_seconds(cell) / 60:.0f} minutes on two cores of its own"
        )
        command = [sys.executable, "-m", "samovar", *shlex.split(shell_command(cell, place))[1:]]
        log = place.runs / f"{cell.name}.log"
        with log.open("wb") as target:
            done = subprocess.run(
                command, stdout=target, stderr=subprocess.STDOUT, env=environment, check=False
            )
        failure = (
            f"{cell.name}: ended with exit code {done.returncode}, see {log}"
            if done.returncode
            else None
        )
        watch(failure or f"{cell.name}: trained")
        return failure

    pool = ThreadPoolExecutor(jobs)
    try:
        return [failure for failure in pool.map(run, cells) if failure is not None]
    finally:  # after Ctrl-C, which the trainings get too, nothing new is begun
        pool.shutdown(cancel_futures=True)
