"""The longer training differs from Table 1 in its updates and step size only."""

from dataclasses import replace

from samovar.experiments.beyond.longer import EXPERIMENT
from samovar.experiments.shared_cells import conv4_cell
from samovar.settings.stored import differences


def test_only_the_schedule_differs_from_table_1():
    trainings = [(seed, method) for seed in range(3) for method in ("versa", "samovar")]
    for cell, (seed, method) in zip(EXPERIMENT.cells("cpu"), trainings, strict=True):
        short = conv4_cell(method, 5, seed)
        changed = {difference.path[0] for difference in differences(short.settings, cell.settings)}
        assert changed == {"updates", "optimizer", "validation", "checkpoint_every"}
        assert cell.settings.updates == 4 * short.settings.updates
        assert cell.name != short.name
        assert replace(cell, name="", settings=short.settings) == replace(short, name="")
