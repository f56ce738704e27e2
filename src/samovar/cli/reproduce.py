"""`samovar reproduce NAME`."""

from pathlib import Path
from typing import Annotated, Literal

import tyro

from samovar.errors import SettingsError

Name = Literal[
    "synthetic", "table1", "table2", "table3", "table4", "table5", "sampling", "beta", "collapse",
    "omniglot", "longer", "shots", "calibration", "coverage", "all",
]  # fmt: skip


def reproduce(
    name: Annotated[Name, tyro.conf.Positional],
    *,
    scale: Literal["cpu", "paper"] = "cpu",
    plan: bool = False,
    shell: bool = False,
    measured_only: bool = False,
    jobs: int = 1,
    runs: Path = Path("runs/reproduce"),
    out: Path = Path("results"),
    seed: int = 0,
) -> None:
    """A table or figure of the paper, ours beside the published.

    Trains the runs that are missing, goes on with those that were cut, measures all on the same tasks, and writes
    NAME.json, NAME.md and, once something is measured, NAME.png (NAME-paper.* at the paper's scale). The figures of
    every run are kept under OUT/cells, without weights, so that tables can be made again and only what is missing is
    trained later. Runs are shared between tables that need the same. At cpu scale tables 2, 4 and 5 take hours, and
    table 3 (miniImageNet) is only ready to run; at the paper's scale all want GPUs.

    Args:
        name: table1 to table5, synthetic, sampling, beta, collapse: of the paper. omniglot: the cheap real benchmark.
            longer: VERSA against SAMOVAR with four times the updates. shots: models at other shots than they were
            trained on. calibration: NLL and ECE of the runs of table1. coverage: which cells of the paper have been
            measured, and at which scale.
        scale: cpu is the same comparison on data and budgets that two cores manage, and is labelled so; paper is the
            paper's recipe to the letter.
        plan: Only say which runs are there, which are missing, and about how long they take.
        shell: With --plan: print one command for each missing run, for any scheduler.
        measured_only: Train nothing: make the tables from what is there.
        jobs: Runs that are trained at a time, each with its share of the cores. On a CPU as many as it has cores are
            done soonest.
        runs: Where runs are trained.
        out: Where results are written.
        seed: Of the synthetic study. Training seeds are part of the runs.
    """
    from samovar.experiments.command import run_reproduce

    if jobs < 1:
        raise SettingsError(f"--jobs must be at least 1, but is {jobs}.")
    run_reproduce(
        name,
        scale,
        plan=plan,
        shell=shell,
        measured_only=measured_only,
        jobs=jobs,
        runs=runs,
        out=out,
        seed=seed,
    )
