"""`samovar reproduce NAME`."""

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import tyro

from samovar.cluster.piece import Piece
from samovar.core.storage import local_folder, shown
from samovar.errors import RunError, SettingsError
from samovar.experiments.options import ReproduceOptions
from samovar.experiments.registry import BUILT_IN, experiment_names
from samovar.settings.engine import EngineSettings

if TYPE_CHECKING:
    from samovar.experiments.cell import Cell
    from samovar.experiments.runner import Reproduced

    Name = str
else:
    # tyro checks the name and lists all of them in the help; mypy cannot read a computed Literal.
    Name = Literal[(*experiment_names(), "coverage", "all")]

ABOUT = [f"{name}: {place.about}" for name, place in BUILT_IN.items()]
ABOUT += ["coverage: which cells of the paper have been measured, and at which scale"]
ABOUT += ["all: everything"]


def reproduce(
    name: Annotated[Name | None, tyro.conf.Positional, tyro.conf.arg(help="; ".join(ABOUT))] = None,
    *,
    options: Annotated[ReproduceOptions, tyro.conf.arg(name="")],
    plan: bool = False,
    shell: bool = False,
    cell: str | None = None,
    engine: Annotated[EngineSettings, tyro.conf.arg(name="")],
) -> None:
    """Make a table or figure of the paper again, with our numbers beside the published ones.

    Trains the runs that are missing, continues those that were interrupted, measures all of them on
    the same tasks, and writes NAME.json, NAME.md and, once something has been measured, NAME.png
    (NAME-paper.* at the paper's scale). The numbers of every run are kept under OUT/cells, so
    that tables can be made again and only what is missing is trained later; with --keep-weights its
    weights are kept there too, and `samovar evaluate OUT/cells/RUN` examines them again. Tables
    that need the same run share it. At CPU scale tables 2, 4 and 5 take hours, and table 3
    (miniImageNet) is not trained: --plan --shell prints its commands. At the paper's scale all
    tables need GPUs.

    Each run is a piece of work of its own, `samovar reproduce --cell NAME`, which trains and
    measures it and does nothing if that was done. A Ray cluster (--ray), SLURM (--slurm) or any
    other scheduler (--plan --shell) can run the pieces.

    Args:
        name: The experiment.
        options: How it is run.
        plan: Only print which runs there are, which are missing, and how long they would take.
        shell: With --plan, print one command for each missing run instead, for any scheduler.
        cell: Train and measure this one run only, and make no table.
        engine: Where runs are trained and measured; by default here, one after the other.
    """
    if cell is not None:
        _run_cell(name, cell, options)
        return
    if name is None:
        raise SettingsError("Name an experiment, such as table1, or a run by --cell.")
    if plan:
        _print_plan(name, options, shell=shell)
        return
    failures = None
    if engine.chosen and name != "coverage" and not options.measured_only:
        failures = _run_pieces(name, options, engine)
        options = replace(options, measured_only=True)
    with local_folder(options.out) as out:
        # What is finished is sent to its address although something else has failed.
        failures = _print_tables(name, options, out) or failures
    if failures is not None:
        raise failures


def _print_tables(name: str, options: ReproduceOptions, out: Path) -> RunError | None:
    """Make tables in a local folder and print them; return the error if runs failed."""
    try:
        for reproduced in _tables(name, replace(options, out=out)):
            print(reproduced.table.markdown)
            files = [shown(options.out / file.name) for file in reproduced.files]
            print(f"Written: {', '.join(files)}")
    except RunError as error:
        return error
    return None


def _run_cell(name: str | None, cell: str, options: ReproduceOptions) -> None:
    from samovar.experiments.runner import run_cell

    if name is not None:
        raise SettingsError("--cell names one run, whatever tables it is in: leave out NAME.")
    failure = None
    with local_folder(options.out, only=f"cells/{cell}") as out:
        try:
            run_cell(cell, replace(options, out=out))
        except RunError as error:
            failure = error  # what was measured before it is sent to its address
    if failure is not None:
        raise failure


def _tables(name: str, options: ReproduceOptions) -> "Iterator[Reproduced]":
    """Make the tables of an experiment, of all, or of what has been measured."""
    from samovar.experiments.runner import chosen_experiments, run_experiments, write_coverage

    if name != "coverage":
        yield from run_experiments(chosen_experiments(name, options), options)
    if name in ("coverage", "all"):
        yield write_coverage(options)


def _run_pieces(name: str, options: ReproduceOptions, engine: EngineSettings) -> RunError | None:
    """Train and measure what is missing by an engine; return the error if something failed.

    Tables can be made of what was measured all the same, so the error waits.
    """
    from samovar.cli.main import main
    from samovar.cluster.engine import run_pieces
    from samovar.reporting.progress_bar import progress_bar

    pieces = _missing_pieces(name, options)
    try:
        with progress_bar("runs") as progress:
            run_pieces(pieces, main, engine, progress)
    except RunError as error:
        return error
    return None


def _missing_pieces(name: str, options: ReproduceOptions) -> list[Piece]:
    from samovar.experiments.evidence import Workplace
    from samovar.experiments.plan import missing_pieces

    cells, _ = _cells_and_notes(name, options)
    with local_folder(options.out) as out:
        return missing_pieces(cells, Workplace(options.runs, out), options)


def _cells_and_notes(name: str, options: ReproduceOptions) -> "tuple[list[Cell], list[str]]":
    """Return the cells of experiments, and what is to be said of those without."""
    from samovar.experiments.runner import chosen_experiments

    cells = []
    notes = []
    for experiment in chosen_experiments(name, options):
        cells += experiment.cells(options.scale)
        if experiment.plan_note:
            notes.append(experiment.plan_note)
    return cells, notes


def _print_plan(name: str, options: ReproduceOptions, *, shell: bool) -> None:
    from samovar.experiments.evidence import Workplace
    from samovar.experiments.plan import print_plan

    if name == "coverage":
        print("coverage trains nothing: it only lists what has been measured.")
        return
    if shell:
        for piece in _missing_pieces(name, options):
            print(piece.command)
        return
    cells, notes = _cells_and_notes(name, options)
    if cells:
        with local_folder(options.out) as out:
            print_plan(cells, Workplace(options.runs, out))
    for note in notes:
        print(note)
