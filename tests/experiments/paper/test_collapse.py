"""The collapse: the first step below 0.001, beside the paper's for VERSA."""

from dataclasses import replace

import numpy as np
from helpers_experiments import keep_evidence, keep_training, measurements

from samovar.experiments.evidence import Workplace
from samovar.experiments.paper.collapse import EXPERIMENT
from samovar.experiments.runner import build


def trace(*variances: float) -> list[dict[str, float]]:
    lines = []
    for number, variance in enumerate(variances, start=1):
        line = {"update": 250 * number, "nll": 1.0}
        line |= {"largest_weight_variance": variance, "largest_bias_variance": variance / 2}
        lines.append(line)
    return lines


def test_the_first_step_below_the_level_is_found_even_if_the_variance_returns(cells, tmp_path):
    place = Workplace(tmp_path / "runs", tmp_path / "out")
    samovar = cells[0]
    versa = cells[2]
    for cell in (samovar, versa):
        keep_evidence(place, cell, np.full(25, 0.5))
    keep_training(place, samovar, trace(0.1, 0.05, 0.06))
    keep_training(place, versa, trace(0.1, 0.0009, 0.005))
    table, picture = build(EXPERIMENT, measurements([versa, samovar], place))
    found = {result["method"]: result for result in table.data["results"]}
    assert found["versa"]["first_below"] == 500
    assert found["samovar"]["first_below"] is None
    assert "| versa 1-shot | 500 | about 3000 | 0.005 |" in table.markdown
    assert "| samovar 1-shot | never | does not collapse | 0.06 |" in table.markdown
    assert picture is not None


def test_cells_that_are_not_measured_are_left_out(cells, tmp_path):
    place = Workplace(tmp_path / "runs", tmp_path / "out")
    keep_training(place, cells[0], trace(0.1))
    table, picture = build(EXPERIMENT, measurements([cells[0]], place))
    assert table.data["results"] == []
    assert picture is None


def test_both_methods_are_traced_at_both_shots():
    for scale in ("cpu", "paper"):
        cells = EXPERIMENT.cells(scale)
        places = {(cell.row, cell.settings.episodes.shot) for cell in cells}
        assert places == {("versa", 5), ("versa", 1), ("samovar", 5), ("samovar", 1)}
        assert all(replace(cell, row="").settings.trace_every <= 250 for cell in cells)
