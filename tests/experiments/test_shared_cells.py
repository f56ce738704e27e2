"""Every cell of the paper's tables is there, and cells of one name are one run."""

import pytest

from samovar.experiments.cell import Cell
from samovar.experiments.registry import all_experiments, find_experiment
from samovar.experiments.shared_cells import full_model_cell, table1_cells
from samovar.settings.paper import TABLE_2


def run_names(scale: str) -> dict[str, set[str]]:
    return {
        experiment.name: {cell.name for cell in experiment.cells(scale)}
        for experiment in all_experiments()
    }


def test_every_cell_of_the_papers_tables_is_there():
    counts = {"table1": 6, "table2": 32, "table3": 6, "table4": 2, "table5": 2}
    for name, count in counts.items():
        cells = find_experiment(name).cells("paper")
        assert len(cells) == count
        assert all(cell.published is not None for cell in cells)


def test_runs_are_shared_between_experiments():
    names = run_names("cpu")
    assert names["shots"] == names["calibration"] == names["table1"]
    # Four more are trained by the paper's steps.
    assert len(names["collapse"] & names["table1"]) == 4
    assert len(names["beta"] & names["table1"]) == 2  # x 1 of both shots
    assert names["sampling"] < names["table1"] | (names["table2"] & names["table5"])
    paper = run_names("paper")
    assert len(paper["table3"] & (paper["table1"] | paper["table2"])) == 4


@pytest.mark.parametrize("scale", ["cpu", "paper"])
def test_cells_of_one_name_are_one_run(scale):
    runs: dict[str, Cell] = {}
    for experiment in all_experiments():
        for cell in experiment.cells(scale):
            first = runs.setdefault(cell.name, cell)
            assert first.settings == cell.settings
            assert set(first.protocols) == set(cell.protocols)


def test_table1_has_three_seeds_of_every_method_at_cpu_scale():
    cells = table1_cells("cpu")
    seeds = [cell.settings.seed for cell in cells if (cell.row, cell.column) == ("versa", "5-shot")]
    assert seeds == [0, 1, 2]
    assert {cell.row for cell in cells} == {"samovar", "separate", "versa", "prototypes"}


@pytest.mark.parametrize("scale", ["cpu", "paper"])
def test_the_full_model_has_all_three_additions(scale):
    cell = full_model_cell(scale, 5)
    model = cell.settings.model
    assert model.classifier == "cosine"
    assert model.task_embedding
    assert model.auxiliary_classes == 64
    assert cell.published == TABLE_2[-1].published("samovar", 5)
