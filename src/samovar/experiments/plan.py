"""What `--plan` prints: which runs there are, which are missing, and how long they would take."""

from rich.console import Console
from rich.table import Table

from samovar.cluster.piece import Piece
from samovar.experiments.cell import Cell, unique_runs
from samovar.experiments.commands import cell_piece
from samovar.experiments.evidence import Evidence, State, Workplace, gather_evidence
from samovar.experiments.options import ReproduceOptions
from samovar.settings.model import ModelSettings

IMAGES_PER_SECOND = {
    "conv": 1348.0,
    "narrow resnet": 531.0,
    "narrow resnet with TEN": 278.0,
    "resnet": 74.5,
    "resnet with TEN": 39.0,
}
"""Training images of 32 pixels per second on two cores (docs/training.md).

The last was not measured: it has the ratio of the narrow ones.
"""
AUXILIARY_SHARE = 0.6
"""How many auxiliary updates there are for each few-shot update, on average over the training."""
STATE_TEXTS: dict[State, str] = {
    "measured": "measured",
    "diverged": "diverged",
    "trained": "trained, not measured",
    "begun": "training not finished",
    "missing": "not trained",
    "no data": "not trained, no data",
}


def needs_training(evidence: Evidence) -> bool:
    """Return whether the run of a cell is missing or has not finished."""
    return evidence.state in ("missing", "begun", "no data")


def estimated_seconds(cell: Cell) -> float:
    """Return the training time on two cores like ours.

    For ResNet-12 at full width it shows why one wants a GPU.
    """
    settings = cell.settings
    # Time goes with the number of pixels; samples of the classifier cost next to nothing.
    images: float = settings.images_per_update
    if settings.model.auxiliary_classes:
        images += AUXILIARY_SHARE * settings.auxiliary_batch
    pixels = (settings.model.size / 32) ** 2
    return settings.updates * images * pixels / IMAGES_PER_SECOND[_kind(settings.model)]


def _kind(model: ModelSettings) -> str:
    if model.backbone != "resnet12":
        return "conv"
    kind = "resnet"
    if model.width < 64:
        kind = "narrow resnet"
    if model.task_embedding:
        kind += " with TEN"
    return kind


def duration(seconds: float) -> str:
    """Return a length of time in words.

    >>> duration(600), duration(7200)
    ('10 minutes', '2.0 hours')
    """
    # Minutes up to an hour and a half, hours up to two days.
    if seconds < 5400:
        return f"{seconds / 60:.0f} minutes"
    if seconds < 172_800:
        return f"{seconds / 3600:.1f} hours"
    return f"{seconds / 86_400:.0f} days"


def missing_pieces(cells: list[Cell], place: Workplace, options: ReproduceOptions) -> list[Piece]:
    """Return a piece for each run that has neither been measured nor diverged.

    `place` is where its evidence is looked for, the options say where the piece puts it: that may
    be an address elsewhere.
    """
    pieces = []
    for cell in unique_runs(cells):
        # Two experiments may want different things of the same run.
        same_run = [other for other in cells if other.name == cell.name]
        if not all(evidence.is_settled for evidence in gather_evidence(same_run, place)):
            pieces.append(cell_piece(cell, options))
    return pieces


def print_plan(cells: list[Cell], place: Workplace) -> None:
    """Print every run once, with its state, and with an estimate if it is to be trained."""
    runs = gather_evidence(unique_runs(cells), place)
    table = Table(title="Runs", caption="Estimates are for two CPU cores, from measured speeds.")
    for column in ("run", "state", "estimate"):
        table.add_column(column, overflow="fold")
    seconds_here = []
    gpu_runs = 0
    for evidence in runs:
        cell = evidence.cell
        state = STATE_TEXTS[evidence.state]
        estimate = ""
        if needs_training(evidence):
            # Runs that need a GPU are listed, but not counted as work for this machine.
            seconds = estimated_seconds(cell)
            estimate = duration(seconds)
            if cell.needs_gpu:
                state = "ready to run"
                gpu_runs += 1
            else:
                seconds_here.append(seconds)
        table.add_row(cell.name, state, estimate)
    Console().print(table)
    total = duration(sum(seconds_here))
    print(f"{len(seconds_here)} of {len(runs)} runs are to be trained: about {total} on two cores.")
    if gpu_runs == 1:
        print("1 run needs a GPU; --plan --shell prints its command.")
    elif gpu_runs > 1:
        print(f"{gpu_runs} runs need a GPU; --plan --shell prints their commands.")
