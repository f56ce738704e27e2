"""The collapse: the first step below 0.001, beside the paper's for VERSA."""

from dataclasses import replace

import numpy as np
import pytest
from helpers_experiments import keep_evidence, keep_training, measurements

from samovar.experiments.evidence import Workplace
from samovar.experiments.paper.collapse import EXPERIMENT, PAPER_STEPS
from samovar.experiments.runner import build
from samovar.settings.paper import COLLAPSE_STEP
from samovar.settings.recipes import conv5_miniimagenet
from samovar.settings.stored import differences


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
    # The recipe of Table 1 has other steps, so there is nothing to compare with.
    assert "| versa 1-shot, the recipe of Table 1 | 500 | | 0.005 |" in table.markdown
    line = "| samovar 1-shot, the recipe of Table 1 | never | does not collapse | 0.06 |"
    assert line in table.markdown
    assert picture is not None


def test_with_the_steps_of_the_paper_the_published_step_stands_beside_ours(cells, tmp_path):
    place = Workplace(tmp_path / "runs", tmp_path / "out")
    versa = replace(cells[2], group=PAPER_STEPS)
    keep_evidence(place, versa, np.full(25, 0.5))
    keep_training(place, versa, trace(0.1, 0.0009))
    table, picture = build(EXPERIMENT, measurements([versa], place))
    assert "| versa 1-shot, the paper's steps | 500 | about 3000 | 0.0009 |" in table.markdown
    assert picture is not None


@pytest.mark.parametrize("shot", [5, 1])
def test_the_steps_of_the_paper_differ_from_its_recipe_in_data_and_length_alone(shot):
    paper = conv5_miniimagenet("versa", shot)
    (ours,) = [
        cell.settings
        for cell in EXPERIMENT.cells("cpu")
        if cell.group == PAPER_STEPS and cell.row == "versa" and cell.settings.episodes.shot == shot
    ]
    changed = {difference.path[0] for difference in differences(paper, ours)}
    assert changed <= {"data", "model", "updates", "validation", "checkpoint_every"}
    assert ours.model == replace(paper.model, backbone="conv4", size=32)
    assert ours.optimizer == paper.optimizer
    assert ours.episodes == paper.episodes
    assert ours.updates == COLLAPSE_STEP[shot] + 250


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
