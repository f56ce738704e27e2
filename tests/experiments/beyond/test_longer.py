"""The longer training differs from Table 1 in its updates and step size only."""

from dataclasses import replace

from samovar.experiments.beyond.longer import EXPERIMENT
from samovar.experiments.shared_cells import conv4_cell
from samovar.settings.stored import differences


def test_only_the_schedule_differs_from_table_1():
    for cell, method in zip(EXPERIMENT.cells("cpu"), ("versa", "samovar"), strict=True):
        short = conv4_cell(method, 5)
        changed = {difference.path[0] for difference in differences(short.settings, cell.settings)}
        assert changed == {"updates", "optimizer", "validation", "checkpoint_every"}
        assert cell.settings.updates == 4 * short.settings.updates
        assert cell.name != short.name
        assert replace(cell, name="", settings=short.settings) == replace(short, name="")
