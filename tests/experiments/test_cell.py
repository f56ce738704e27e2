"""Every cell of the paper's tables is there, and cells of one name are one run."""

import pytest

from samovar.experiments.cells import EXPERIMENTS, Cell


def test_every_cell_of_the_papers_tables_is_there():
    counts = {
        name: len(EXPERIMENTS[name]("paper"))
        for name in ("table1", "table2", "table3", "table4", "table5")
    }
    assert counts == {"table1": 6, "table2": 32, "table3": 6, "table4": 2, "table5": 2}
    assert all(cell.published is not None for name in counts for cell in EXPERIMENTS[name]("paper"))


def test_runs_are_shared_between_experiments():
    names = {name: {cell.name for cell in build("cpu")} for name, build in EXPERIMENTS.items()}
    assert names["shots"] == names["calibration"] == names["table1"]
    assert names["collapse"] <= names["table1"]
    assert len(names["beta"] & names["table1"]) == 2  # x 1 of both shots
    assert names["sampling"] < names["table1"] | (names["table2"] & names["table5"])
    paper = {name: {cell.name for cell in build("paper")} for name, build in EXPERIMENTS.items()}
    assert len(paper["table3"] & (paper["table1"] | paper["table2"])) == 4


@pytest.mark.parametrize("scale", ["cpu", "paper"])
def test_cells_of_one_name_are_one_run(scale):
    runs: dict[str, Cell] = {}
    for cell in (cell for build in EXPERIMENTS.values() for cell in build(scale)):
        first = runs.setdefault(cell.name, cell)
        assert first.settings == cell.settings
        assert {first.protocol, *first.also} == {cell.protocol, *cell.also}
