"""Run experiments: train what is missing, measure it, and write NAME.json, NAME.md and NAME.png.

Runs that were interrupted continue where they stopped. One run that fails does not stop the others:
its cells are missing from the tables, and the failure is reported at the end.
"""

import json
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from samovar.core.devices import device_named
from samovar.core.files import output_folder, write_whole
from samovar.core.suggestions import did_you_mean
from samovar.errors import DataError, DivergedError, RunError, SamovarError, SettingsError
from samovar.experiments.cell import Cell, unique_runs
from samovar.experiments.coverage import coverage
from samovar.experiments.evidence import Evidence, Workplace, gather_evidence
from samovar.experiments.experiment import Experiment, Measurements, ResultTable
from samovar.experiments.measuring import measure
from samovar.experiments.options import ReproduceOptions
from samovar.experiments.plan import estimated_seconds, needs_training
from samovar.experiments.registry import all_experiments, find_experiment
from samovar.experiments.side_by_side import train_side_by_side
from samovar.training.run import train

Say = Callable[[str], None]
"""Called with a sentence on what is being done."""


def say_to_stderr(text: str) -> None:
    """Print progress to standard error, where it does not mix with results."""
    print(text, file=sys.stderr, flush=True)


@dataclass(frozen=True)
class Reproduced:
    """A table that was made, and the files it was written to."""

    table: ResultTable
    files: list[Path]


def reproduce(
    name: str, options: ReproduceOptions | None = None, say: Say = say_to_stderr
) -> ResultTable:
    """Run the experiment of this name, write its files, and return its table."""
    (reproduced,) = run_experiments([find_experiment(name)], options or ReproduceOptions(), say)
    return reproduced.table


def chosen_experiments(name: str, options: ReproduceOptions) -> list[Experiment]:
    """Return the experiment of this name, or all that exist at the chosen scale."""
    if name == "all":
        experiments = all_experiments()
        return [experiment for experiment in experiments if _has_scale(experiment, options)]
    experiment = find_experiment(name)
    if not _has_scale(experiment, options):
        raise SettingsError(
            f"{name} goes beyond the paper, so it has no recipe at the paper's scale. "
            "Leave out --scale."
        )
    return [experiment]


def _has_scale(experiment: Experiment, options: ReproduceOptions) -> bool:
    return options.scale == "cpu" or not experiment.beyond_paper


def run_experiments(
    experiments: list[Experiment], options: ReproduceOptions, say: Say = say_to_stderr
) -> Iterator[Reproduced]:
    """Run experiments one after the other and yield each table when it is written.

    Raise an error at the end if a run failed.
    """
    place = Workplace(options.runs, options.out, options.keep_weights)
    output_folder(options.out)
    failures: list[str] = []
    train_here = not options.measured_only
    if train_here and options.jobs > 1:
        failures += _train_all(experiments, options, place, say)
        train_here = False  # what failed just now is not tried again
    for experiment in experiments:
        cells = experiment.cells(options.scale)
        failures += train_and_measure(cells, place, say, measure_only=not train_here)
        measurements = Measurements(options.scale, gather_evidence(cells, place), options.seed)
        try:
            table, picture = build(experiment, measurements)
        except DataError as error:  # of an experiment that measures on the spot
            failures.append(f"{experiment.name}: {error}")
            say(failures[-1])
            continue
        yield _write(options.out / experiment.file_name(options.scale), table, picture)
    if failures:
        reasons = "\n".join(dict.fromkeys(failures))
        raise RunError(f"Some runs failed and are missing from the tables:\n{reasons}")


def run_cell(name: str, options: ReproduceOptions, say: Say = say_to_stderr) -> None:
    """Train and measure one cell, for all experiments that have it; what is there is kept.

    This is a piece of work that any scheduler can run. The user has named the cell, so it is
    trained here even if it needs a GPU.
    """
    cells = [replace(cell, needs_gpu=False) for cell in _cells_named(name, options)]
    place = Workplace(options.runs, options.out, options.keep_weights)
    failures = []
    for cell in cells:
        evidence = Evidence(cell, place)
        if evidence.is_settled:
            say(f"{name}: {evidence.state} already")
            continue
        failures += train_and_measure([cell], place, say, measure_only=options.measured_only)
    if failures:
        raise RunError("\n".join(failures))


def _cells_named(name: str, options: ReproduceOptions) -> list[Cell]:
    """Return the cells of all experiments that have this name."""
    cells = []
    for experiment in chosen_experiments("all", options):
        cells += experiment.cells(options.scale)
    named = [cell for cell in cells if cell.name == name]
    if not named:
        names = [cell.name for cell in cells]
        raise SettingsError(
            f"There is no cell {name!r} at the scale {options.scale}; `samovar reproduce all "
            f"--plan` lists them.{did_you_mean(name, names)}"
        )
    return named


def write_coverage(options: ReproduceOptions) -> Reproduced:
    """Write coverage.json and coverage.md."""
    place = Workplace(options.runs, options.out)
    output_folder(options.out)
    return _write(options.out / "coverage", coverage(place), None)


def build(experiment: Experiment, measurements: Measurements) -> tuple[ResultTable, bytes | None]:
    """Make the table from what was measured, and the picture if there is anything to show."""
    table = experiment.table(measurements)
    # An experiment without cells has computed its results on the spot.
    if measurements.cells and not measurements.measured:
        return table, None
    return table, experiment.figure(table.data)


def _write(path: Path, table: ResultTable, picture: bytes | None) -> Reproduced:
    """Write the files of a table; `path` is theirs without the ending."""
    contents = {
        ".json": json.dumps(table.data, indent=1).encode(),
        ".md": table.markdown.encode(),
    }
    if picture is not None:
        contents[".png"] = picture
    files = []
    for ending, content in contents.items():
        file = path.with_name(path.name + ending)
        write_whole(file, content)
        files.append(file)
    return Reproduced(table, files)


def _train_all(
    experiments: list[Experiment], options: ReproduceOptions, place: Workplace, say: Say
) -> list[str]:
    """Train what is missing of all experiments side by side; return what failed."""
    cells: list[Cell] = []
    for experiment in experiments:
        cells += experiment.cells(options.scale)
    missing = []
    for evidence in gather_evidence(unique_runs(cells), place):
        if needs_training(evidence) and not evidence.cell.needs_gpu:
            missing.append(evidence.cell)
    return train_side_by_side(missing, place, options.jobs, say)


def train_and_measure(
    cells: list[Cell], place: Workplace, say: Say, *, measure_only: bool
) -> list[str]:
    """Train cells and measure them, one after the other; return what failed.

    A failure does not stop the others. With `measure_only`, only runs that are trained already are
    measured. Training prepares its data if necessary; if that fails once, the other cells of the
    same data are left out.
    """
    output_folder(place.results)
    failures: dict[str, str] = {}
    for cell in unique_runs(cells):
        evidence = Evidence(cell, place)
        skip_training = measure_only or cell.needs_gpu or cell.settings.data.name in failures
        try:
            if needs_training(evidence) and not skip_training:
                _train(cell, place, say)
                evidence = Evidence(cell, place)
            if evidence.state == "trained":
                say(f"{cell.name}: measuring")
                measure(cell, place, str(device_named("auto")))
        except SamovarError as error:
            # Data that cannot be prepared fails for every cell, so it is reported once.
            cause = cell.settings.data.name if isinstance(error, DataError) else cell.name
            failures[cause] = str(error)
            say(f"{cell.name}: {error}")
    return [f"{cause}: {reason}" for cause, reason in failures.items()]


def _train(cell: Cell, place: Workplace, say: Say) -> None:
    say(f"{cell.name}: training, about {estimated_seconds(cell) / 60:.0f} minutes on two cores")

    def watch(line: dict[str, Any]) -> None:
        if "event" in line or "validation_accuracy" in line:
            say(f"  {json.dumps(line)}")

    try:
        train(cell.settings, place.run(cell), preset=cell.preset, watch=watch)
    except DivergedError as error:
        # That is a result, which is kept beside those of the others.
        say(f"{cell.name}: {error}")
