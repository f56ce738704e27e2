"""Coverage says of every cell of the paper at which scale it has been measured."""

import numpy as np
from helpers_experiments import keep_evidence

from samovar.experiments.coverage import coverage, measured_share
from samovar.experiments.evidence import Workplace


def test_every_cell_of_the_paper_is_listed_and_ready_to_run(tmp_path):
    table = coverage(Workplace(tmp_path / "runs", tmp_path / "out"))
    entries = table.data["cells"]
    assert len(entries) == 6 + 32 + 6 + 2 + 2 + 3
    assert {entry["paper"] for entry in entries} == {"ready to run"}
    assert all(entry["cpu"] == "none" for entry in entries if entry["table"] == "table3")
    assert "| table1 | versa, 5-shot | 68.0 ± 0.2 | ready to run | ready to run |" in table.markdown


def test_the_share_counts_measured_runs(cells, tmp_path):
    place = Workplace(tmp_path / "runs", tmp_path / "out")
    assert measured_share([], place) == "none"
    assert measured_share(cells, place) == "ready to run"
    keep_evidence(place, cells[0], np.full(25, 0.5))
    assert measured_share(cells, place) == "measured, 1 of 4 runs"
