"""VERSA against SAMOVAR-base in 5-shot with four times the updates.

Here the paper's gain should show. Both are trained by Adam at 1e-3. At the 3e-3 of the short
schedule VERSA falls apart before its 2,000th update: its variance falls to 1e-10, its validation
accuracy from 56 to 43 %, and there would be nothing to compare with.
"""

from dataclasses import replace

from samovar.experiments.accuracy_table import accuracy_table
from samovar.experiments.cell import Cell, Scale
from samovar.experiments.experiment import Experiment, Measurements, ResultTable
from samovar.experiments.figures import accuracy_figure
from samovar.experiments.shared_cells import SEEDS, conv4_cell
from samovar.settings.paper import Rival
from samovar.settings.training import OptimizerSettings

METHODS: tuple[Rival, Rival] = ("versa", "samovar")
UPDATES = 10_000


def cells(_scale: Scale) -> list[Cell]:
    """Return three seeds of each method."""
    longer = []
    for seed in range(SEEDS):
        for method in METHODS:
            cell = conv4_cell(method, 5, seed, UPDATES)
            settings = replace(cell.settings, optimizer=OptimizerSettings(learning_rate=1e-3))
            longer.append(replace(cell, settings=settings))
    return longer


def table(measurements: Measurements) -> ResultTable:
    """Return both accuracies and their difference."""
    return accuracy_table("longer", measurements)


EXPERIMENT = Experiment(
    name="longer", cells=cells, table=table, figure=accuracy_figure, beyond_paper=True
)
