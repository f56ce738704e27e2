"""Table 2: the ablation of scaled cosine (SC), auxiliary co-training (AT) and TEN."""

from samovar.experiments.accuracy_table import accuracy_table
from samovar.experiments.cell import Cell, Scale
from samovar.experiments.experiment import Experiment, Measurements, ResultTable
from samovar.experiments.figures import accuracy_figure
from samovar.experiments.shared_cells import SEEDS, ablation_cell
from samovar.settings.paper import (
    FULL,
    TABLE_2,
    TABLE_2_COLUMNS,
    Ablation,
    Table2Column,
    Table2Row,
)

REPEATED = (
    Ablation(),
    Ablation(scaled=True),
    Ablation(auxiliary=True),
    Ablation(scaled=True, auxiliary=True),
    FULL,
)
"""The rows that are trained with several seeds at CPU scale, in 5-shot."""


def cells(scale: Scale) -> list[Cell]:
    """Return the 32 cells of the table, row by row, for TADAM and SAMOVAR at both shots."""
    table_cells = []
    for row in TABLE_2:
        for column in TABLE_2_COLUMNS:
            for seed in range(_seeds(scale, row, column)):
                table_cells.append(ablation_cell(scale, row, column.method, column.shot, seed))
    return table_cells


def _seeds(scale: Scale, row: Table2Row, column: Table2Column) -> int:
    if scale == "cpu" and column.shot == 5 and row.ablation in REPEATED:
        return SEEDS
    return 1


def table(measurements: Measurements) -> ResultTable:
    """Return the accuracies of Table 2, ours beside the published ones."""
    return accuracy_table("table2", measurements)


EXPERIMENT = Experiment(name="table2", cells=cells, table=table, figure=accuracy_figure)
