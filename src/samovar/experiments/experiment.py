"""What an experiment is: its cells, its table and its picture, under a name.

Every file of `experiments/paper` and `experiments/beyond` ends with one of these. The runner trains
and measures the cells, hands what was measured to `table`, and the table's data to `figure`.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from samovar.experiments.cell import Cell, Scale
from samovar.experiments.evidence import Evidence


@dataclass(frozen=True)
class Measurements:
    """What a table is made from: the evidence of each cell, in the order of the cells."""

    scale: Scale
    evidence: list[Evidence]
    seed: int = 0
    """The seed of an experiment that has no cells and computes its results on the spot."""

    @property
    def cells(self) -> list[Cell]:
        """The cells of the experiment."""
        return [evidence.cell for evidence in self.evidence]

    @property
    def measured(self) -> list[Evidence]:
        """The evidence of the cells that have been measured."""
        return [evidence for evidence in self.evidence if evidence.is_measured]


@dataclass(frozen=True)
class ResultTable:
    """A table as data (NAME.json) and as text (NAME.md)."""

    data: dict[str, Any]
    markdown: str


@dataclass(frozen=True)
class Experiment:
    """A table or figure that `samovar reproduce NAME` makes."""

    name: str
    cells: Callable[[Scale], list[Cell]]
    """The training runs that it needs; none if it computes its results on the spot."""
    table: Callable[[Measurements], ResultTable]
    figure: Callable[[dict[str, Any]], bytes]
    """Draws the data of the table; returns a PNG."""
    beyond_paper: bool = False
    """Whether the paper does not have it, so that there is no recipe at the paper's scale."""
    plan_note: str = ""
    """What `--plan` says of an experiment without cells."""

    def file_name(self, scale: Scale) -> str:
        """Return the name of its files without the ending."""
        # Without cells there is nothing that depends on the scale.
        if scale == "cpu" or not self.cells(scale):
            return self.name
        return f"{self.name}-paper"
