"""`samovar reproduce NAME`."""

from typing import TYPE_CHECKING, Annotated, Literal

import tyro

from samovar.experiments.options import ReproduceOptions
from samovar.experiments.registry import BUILT_IN, experiment_names

if TYPE_CHECKING:
    from samovar.experiments.experiment import Experiment
    from samovar.experiments.runner import Reproduced

    Name = str
else:
    # tyro checks the name and lists all of them in the help; mypy cannot read a computed Literal.
    Name = Literal[(*experiment_names(), "coverage", "all")]

ABOUT = [f"{name}: {place.about}" for name, place in BUILT_IN.items()]
ABOUT += ["coverage: which cells of the paper have been measured, and at which scale"]
ABOUT += ["all: everything"]


def reproduce(
    name: Annotated[Name, tyro.conf.Positional, tyro.conf.arg(help="; ".join(ABOUT))],
    *,
    options: Annotated[ReproduceOptions, tyro.conf.arg(name="")],
    plan: bool = False,
    shell: bool = False,
) -> None:
    """Make a table or figure of the paper again, with our numbers beside the published ones.

    Trains the runs that are missing, continues those that were interrupted, measures all of them on
    the same tasks, and writes NAME.json, NAME.md and, once something has been measured, NAME.png
    (NAME-paper.* at the paper's scale). The numbers of every run are kept under OUT/cells, without
    weights, so that tables can be made again and only what is missing is trained later. Tables that
    need the same run share it. At CPU scale tables 2, 4 and 5 take hours, and table 3
    (miniImageNet) is not trained: --plan --shell prints its commands. At the paper's scale all
    tables need GPUs.

    Args:
        name: The experiment.
        options: How it is run.
        plan: Only print which runs there are, which are missing, and how long they would take.
        shell: With --plan, print one command for each missing run instead, for any scheduler.
    """
    from samovar.experiments.runner import chosen_experiments, run_experiments, write_coverage

    if name == "coverage":
        if plan:
            print("coverage trains nothing: it only lists what has been measured.")
            return
        _print(write_coverage(options))
        return
    experiments = chosen_experiments(name, options)
    if plan:
        _print_plan(experiments, options, shell=shell)
        return
    for reproduced in run_experiments(experiments, options):
        _print(reproduced)
    if name == "all":
        _print(write_coverage(options))


def _print(reproduced: "Reproduced") -> None:
    print(reproduced.table.markdown)
    print(f"Written: {', '.join(map(str, reproduced.files))}")


def _print_plan(experiments: "list[Experiment]", options: ReproduceOptions, *, shell: bool) -> None:
    from samovar.experiments.evidence import Workplace
    from samovar.experiments.plan import print_commands, print_plan

    cells = []
    notes = []
    for experiment in experiments:
        cells += experiment.cells(options.scale)
        if experiment.plan_note:
            notes.append(experiment.plan_note)
    place = Workplace(options.runs, options.out)
    if shell:
        print_commands(cells, place)
        return
    if cells:
        print_plan(cells, place)
    for note in notes:
        print(note)
