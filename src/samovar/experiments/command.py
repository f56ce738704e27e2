"""What `samovar reproduce` does: plan, train, measure, and write NAME.json, NAME.md and NAME.png."""

import json
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import torch
from rich.console import Console
from rich.table import Table

from samovar.core.files import output_folder, write_whole
from samovar.errors import RunError, SettingsError
from samovar.experiments import figures, studies, tables, traces
from samovar.experiments.cells import CPU_ONLY, EXPERIMENTS, Cell, Scale
from samovar.experiments.paper.synthetic.study import synthetic_study
from samovar.experiments.parallel import train_together
from samovar.experiments.reproduce import (
    Workplace,
    estimated_seconds,
    reproduce,
    shell_command,
    state_of,
)
from samovar.experiments.sampling_table import sampling
from samovar.experiments.tables import Written, coverage
from samovar.reporting.figures.evaluation import sampling_figure
from samovar.reporting.figures.synthetic import synthetic_figure
from samovar.reporting.progress_bar import progress_bar
from samovar.settings.synthetic import SyntheticSettings

TO_TRAIN = ("missing", "begun", "no data")


def run_reproduce(
    name: str,
    scale: Scale,
    *,
    plan: bool,
    shell: bool,
    measured_only: bool,
    jobs: int,
    runs: Path,
    out: Path,
    seed: int,
) -> None:
    """One experiment, or all."""
    place = Workplace(runs, out)
    if scale == "paper" and name in CPU_ONLY:
        raise SettingsError(
            f"{name} goes beyond the paper, so there is no recipe of its scale: leave out --scale."
        )
    names = [name]
    if name == "all":
        names = [
            "synthetic",
            *(each for each in EXPERIMENTS if scale == "cpu" or each not in CPU_ONLY),
        ]
    cells = {each: EXPERIMENTS[each](scale) for each in names if each in EXPERIMENTS}
    planned = [cell for each in cells.values() for cell in each]
    if plan and name == "synthetic":
        print(
            "The synthetic study trains its small networks in this process: about 3 minutes on two cores."
        )
        return None
    if plan:
        return print_plan(planned, place, shell=shell)
    output_folder(out)
    if name == "coverage":
        return _write(out, name, coverage(place), None)
    device = "cuda" if torch.cuda.is_available() else "cpu"
    failed = []
    if jobs > 1 and not measured_only:
        missing = [
            cell
            for cell in _unique(planned)
            if not cell.only_ready and state_of(cell, place) in TO_TRAIN
        ]
        failed = train_together(missing, place, jobs, _say)
    for each in names:
        if each == "synthetic":
            _synthetic(out, seed)
            continue
        failed += reproduce(
            cells[each], place, _say, measure_only=measured_only or jobs > 1, device=device
        )
        written, content = build(each, scale, cells[each], place)
        _write(out, each if scale == "cpu" else f"{each}-paper", written, content)
    if name == "all":
        _write(out, "coverage", coverage(place), None)
    if failed:
        raise RunError(
            "Some runs failed, the tables are without them:\n" + "\n".join(dict.fromkeys(failed))
        )
    return None


def _unique(cells: list[Cell]) -> list[Cell]:
    return list({cell.name: cell for cell in cells}.values())


def build(
    name: str, scale: Scale, cells: list[Cell], place: Workplace
) -> tuple[Written, bytes | None]:
    """The table or figure from kept evidence; no picture where nothing has been measured."""
    builders: dict[str, tuple[Callable[[], Written], Callable[[dict[str, Any]], bytes]]] = {
        "shots": (lambda: studies.shots(cells, place), figures.shots_figure),
        "calibration": (lambda: studies.calibration(cells, place), figures.calibration_figure),
        "omniglot": (lambda: studies.omniglot(cells, place), figures.omniglot_figure),
        "collapse": (lambda: traces.collapse(scale, cells, place), figures.collapse_figure),
        "sampling": (
            lambda: sampling(scale, cells, place),
            lambda data: sampling_figure(*data["studies"]),
        ),
        "beta": (lambda: traces.beta(scale, cells, place), figures.beta_figure),
    }
    make, draw = builders.get(
        name, (lambda: tables.table(name, scale, cells, place), figures.table_figure)
    )
    written = make()
    measured = any(state_of(cell, place) == "measured" for cell in cells)
    return written, draw(written.data) if measured else None


def print_plan(cells: list[Cell], place: Workplace, *, shell: bool) -> None:
    """Every run once, its state, and about how long it would take; or its command."""
    unique = _unique(cells)
    states = {cell.name: state_of(cell, place) for cell in unique}
    todo = [cell for cell in unique if states[cell.name] in TO_TRAIN]
    if shell:
        for cell in todo:
            print(shell_command(cell, place))
        return
    table = Table(
        title="Runs", caption="Times are estimates for two CPU cores, by measured throughput."
    )
    for column in ("run", "state", "estimate"):
        table.add_column(column, overflow="fold")
    for cell in unique:
        state = "ready to run" if cell.only_ready and cell in todo else states[cell.name]
        table.add_row(cell.name, state, _duration(estimated_seconds(cell)) if cell in todo else "")
    Console().print(table)
    here = [cell for cell in todo if not cell.only_ready]
    total = _duration(sum(estimated_seconds(cell) for cell in here))
    print(f"{len(here)} of {len(unique)} runs are to be trained: about {total} on two cores.")
    if len(here) < len(todo):
        print(
            f"{len(todo) - len(here)} are for GPUs and only ready to run: --plan --shell prints their commands."
        )


def _duration(seconds: float) -> str:
    if seconds < 5400:
        return f"{seconds / 60:.0f} minutes"
    return f"{seconds / 3600:.1f} hours" if seconds < 172_800 else f"{seconds / 86_400:.0f} days"


def _say(text: str) -> None:
    print(text, file=sys.stderr, flush=True)


def _write(out: Path, name: str, written: Written, content: bytes | None) -> None:
    write_whole(out / f"{name}.json", json.dumps(written.data, indent=1).encode())
    write_whole(out / f"{name}.md", written.text.encode())
    if content is not None:
        write_whole(out / f"{name}.png", content)
    print(written.text)
    print(f"Written: {out / name}.json, .md{' and .png' if content is not None else ''}")


def _synthetic(out: Path, seed: int) -> None:
    with progress_bar("synthetic study") as progress:
        result = synthetic_study(replace(SyntheticSettings(), seed=seed), progress)
    lines = [
        "# synthetic",
        "",
        "Variance of the network / of the true posterior, mean ± std over seeds; 1 is right.",
        "",
    ]
    lines += ["| training | L | sigma_y | ratio |", "|---|---|---|---|"]
    for row in result["results"]:
        ratio = row["variance_ratio"]
        cells = (
            row["method"],
            row["samples"] or "",
            row["sigma_y"],
            f"{ratio['mean']:.3f} ± {ratio['std']:.3f}",
        )
        lines.append("| " + " | ".join(map(str, cells)) + " |")
    _write(out, "synthetic", Written(result, "\n".join(lines) + "\n"), synthetic_figure(result))
