"""Table 2: the ablation of scaled cosine (SC), auxiliary co-training (AT) and TEN."""

from samovar.experiments.accuracy_table import accuracy_table
from samovar.experiments.cell import Cell, Scale
from samovar.experiments.experiment import Experiment, Measurements, ResultTable
from samovar.experiments.figures import accuracy_figure
from samovar.experiments.shared_cells import ablation_cell
from samovar.settings.paper import TABLE_2, TABLE_2_COLUMNS


def cells(scale: Scale) -> list[Cell]:
    """Return the 32 cells of the table, row by row, for TADAM and SAMOVAR at both shots."""
    table_cells = []
    for row in TABLE_2:
        for column in TABLE_2_COLUMNS:
            table_cells.append(ablation_cell(scale, row, column.method, column.shot))
    return table_cells


def table(measurements: Measurements) -> ResultTable:
    """Return the accuracies of Table 2, ours beside the published ones."""
    return accuracy_table("table2", measurements)


EXPERIMENT = Experiment(name="table2", cells=cells, table=table, figure=accuracy_figure)
