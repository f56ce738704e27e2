"""Several trainings at a time, each in a process of its own with its share of the cores.

Small convolutions use one core far better than two: two trainings side by side are done sooner than in turn.
"""

import os
import shlex
import subprocess
import sys
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor, as_completed

from samovar.errors import RunError
from samovar.experiments.cells import Cell
from samovar.experiments.reproduce import Workplace, estimated_seconds, shell_command
from samovar.files import output_folder


def train_together(cells: list[Cell], place: Workplace, jobs: int, watch: Callable[[str], None]) -> None:
    """Train cells in the order given, `jobs` at a time; what one prints is kept beside its run, as NAME.log."""
    environment = os.environ | {"OMP_NUM_THREADS": str(max(1, (os.cpu_count() or 1) // jobs))}
    output_folder(place.runs)

    def run(cell: Cell) -> Cell:
        watch(f"{cell.name}: training, about {estimated_seconds(cell) / 60:.0f} minutes on two cores of its own")
        command = [sys.executable, "-m", "samovar", *shlex.split(shell_command(cell, place))[1:]]
        log = place.runs / f"{cell.name}.log"
        with log.open("wb") as target:
            done = subprocess.run(command, stdout=target, stderr=subprocess.STDOUT, env=environment, check=False)
        if done.returncode:
            raise RunError(f"The training of {cell.name} ended with exit code {done.returncode}: see {log}.")
        return cell

    pool = ThreadPoolExecutor(jobs)
    try:
        for future in as_completed([pool.submit(run, cell) for cell in cells]):
            watch(f"{future.result().name}: trained")
    finally:  # after an error or Ctrl-C nothing new is begun; what runs is waited for, or was stopped by it too
        pool.shutdown(cancel_futures=True)
