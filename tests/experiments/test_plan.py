"""Plans count each run once and say which need a GPU."""

from dataclasses import replace

import numpy as np
import pytest
from helpers_experiments import ALL_CELLS, keep_evidence

from samovar.experiments.evidence import Workplace
from samovar.experiments.options import ReproduceOptions
from samovar.experiments.plan import estimated_seconds, missing_pieces, print_plan


def test_time_grows_with_updates_and_images():
    cell = ALL_CELLS["cifar_fs-conv4-samovar-5shot-seed0"]
    longer = replace(cell, settings=replace(cell.settings, updates=5000))
    wider = replace(cell, settings=replace(cell.settings, tasks=8))
    assert estimated_seconds(longer) == pytest.approx(2 * estimated_seconds(cell))
    assert estimated_seconds(wider) == pytest.approx(2 * estimated_seconds(cell))


def test_there_is_an_estimate_for_every_cell_and_the_papers_take_longer():
    assert all(estimated_seconds(cell) > 0 for cell in ALL_CELLS.values())
    narrow = ALL_CELLS["cifar_fs-narrow-samovar-sc-at-ten-5shot"]
    full = ALL_CELLS["table2-samovar-sc-at-ten-5shot"]
    assert estimated_seconds(full) > 100 * estimated_seconds(narrow)


def test_a_plan_counts_each_run_once(cells, tmp_path, capsys):
    place = Workplace(tmp_path / "runs", tmp_path / "out")
    keep_evidence(place, cells[0], np.full(25, 0.5))
    gpu = replace(cells[3], needs_gpu=True)
    print_plan([*cells[:3], cells[1], gpu], place)
    text = capsys.readouterr().out
    assert "2 of 4 runs are to be trained" in text
    assert "1 runs need a GPU" not in text
    assert "1 run needs a GPU" in text
    options = ReproduceOptions(runs=place.runs, out=place.results)
    pieces = missing_pieces([*cells[:3], cells[1], gpu], place, options)
    assert [piece.name for piece in pieces] == ["samovar-1", "versa-0", "versa-1"]
