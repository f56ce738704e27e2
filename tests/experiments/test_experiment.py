"""Experiments know their files, and measurements which cells have been measured."""

import numpy as np
from helpers_experiments import keep_evidence, measurements

from samovar.experiments.evidence import Workplace
from samovar.experiments.registry import find_experiment


def test_files_at_the_papers_scale_have_names_of_their_own():
    assert find_experiment("table1").file_name("cpu") == "table1"
    assert find_experiment("table1").file_name("paper") == "table1-paper"
    assert find_experiment("synthetic").file_name("paper") == "synthetic"  # has one scale only


def test_measurements_keep_the_order_of_the_cells(cells, tmp_path):
    place = Workplace(tmp_path / "runs", tmp_path / "out")
    keep_evidence(place, cells[2], np.full(25, 0.5))
    made = measurements(cells, place)
    assert made.cells == cells
    assert [evidence.cell for evidence in made.measured] == [cells[2]]
