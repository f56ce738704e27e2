"""Table 1: VERSA, SAMOVAR-base, and SAMOVAR with separate networks for prior and posterior.

At CPU scale the same comparison is made on CIFAR-FS with CONV-4, over three training seeds, with
Prototypical Networks beside it.
"""

from samovar.experiments.accuracy_table import accuracy_table
from samovar.experiments.experiment import Experiment, Measurements, ResultTable
from samovar.experiments.figures import accuracy_figure
from samovar.experiments.shared_cells import table1_cells


def table(measurements: Measurements) -> ResultTable:
    """Return the accuracies of Table 1, ours beside the published ones."""
    return accuracy_table("table1", measurements)


EXPERIMENT = Experiment(name="table1", cells=table1_cells, table=table, figure=accuracy_figure)
