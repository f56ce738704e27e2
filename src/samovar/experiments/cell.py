"""A cell of a table: one training run, and how its model is measured."""

from dataclasses import dataclass
from typing import Literal

from samovar.settings.paper import Published
from samovar.settings.tasks import Protocol
from samovar.settings.training import TrainSettings

Scale = Literal["cpu", "paper"]
"""The paper's own recipe, or the same comparison on data and budgets that two CPU cores manage."""
SCALES: tuple[Scale, ...] = ("cpu", "paper")


@dataclass(frozen=True, kw_only=True)
class Cell:
    """One training run, its place in a table, and how its model is measured.

    Cells are named after what is trained, so that tables which need the same model share its run.
    """

    name: str
    row: str
    column: str
    settings: TrainSettings
    protocol: Protocol
    published: Published | None = None
    preset: str = "own"
    """The preset that the run is recorded under."""
    other_protocols: tuple[Protocol, ...] = ()
    """Further protocols under which the same model is measured."""
    group: str = ""
    """Cells of one group are compared with each other task by task; "" for none."""
    method: str = ""
    """What distinguishes the cells of a group."""
    study: Protocol | None = None
    """Tasks on which accuracy is measured over the number of sampled classifiers."""
    needs_gpu: bool = False
    """Not trained at CPU scale: `reproduce` only prints its command."""

    @property
    def protocols(self) -> tuple[Protocol, ...]:
        """All protocols under which the model is measured."""
        return (self.protocol, *self.other_protocols)


def unique_runs(cells: list[Cell]) -> list[Cell]:
    """Return the cells without those that share the run of an earlier one."""
    runs: dict[str, Cell] = {}
    for cell in cells:
        runs.setdefault(cell.name, cell)
    return list(runs.values())
