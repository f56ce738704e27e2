"""The betas are multiples of the preset's own, and the claim on them is judged around our best."""

from dataclasses import replace

import numpy as np
import pytest
from helpers_experiments import keep_evidence, measurements
from helpers_images import has_color

from samovar.experiments.evidence import Workplace
from samovar.experiments.paper.beta import EXPERIMENT
from samovar.reporting.figures.style import BLUE, VERMILION
from samovar.settings.presets import PRESETS


def test_betas_are_multiples_of_the_presets_own():
    for cell in EXPERIMENT.cells("paper"):
        own = PRESETS[f"table1-samovar-{cell.settings.episodes.shot}shot"].settings.model.beta
        assert cell.settings.model.beta == pytest.approx(float(cell.row) * own)


def test_at_cpu_scale_one_is_the_default_of_the_model():
    """M / (N d) is 8 / 256 here; it is left to the model for x 1."""
    for cell in EXPERIMENT.cells("cpu"):
        beta = cell.settings.model.beta
        if cell.row == "1":
            assert beta is None
        else:
            assert beta == pytest.approx(float(cell.row) * 8 / 256)


def test_one_beta_of_each_shot_is_the_run_of_table_1():
    shared = {}
    for cell in EXPERIMENT.cells("cpu"):
        if "beta" not in cell.name:
            shared[cell.settings.episodes.shot] = cell.row
    assert shared == {5: "1", 1: "2"}


def test_the_claim_on_beta_is_judged_around_our_best(cells, tmp_path):
    place = Workplace(tmp_path / "runs", tmp_path / "out")
    noise = np.random.default_rng(0).normal(0, 0.02, 2000)
    tried = [replace(cells[0], name=f"beta {m}", row=str(m)) for m in (0.5, 1.0, 5.0, 8.0)]

    def claim_of(betas):
        (claim,) = EXPERIMENT.table(measurements(betas, place)).data["claims"]
        return claim

    assert "0 of 4" in claim_of(tried)["text"]
    for cell, accuracy in zip(tried, (0.60, 0.70, 0.71, 0.705), strict=True):
        keep_evidence(place, cell, accuracy + noise)
    assert claim_of(tried)["holds"]
    assert "best is x 5; compared with it, x 8: -0.50" in claim_of(tried)["text"]
    keep_evidence(place, tried[3], 0.69 + noise)
    assert claim_of(tried)["holds"] is False
    # 1 and 20 are beyond the range around 5, on either side of it.
    outside = [tried[1], tried[2], replace(cells[0], name="beta 20", row="20.0")]
    keep_evidence(place, outside[2], 0.705 + noise)
    for beside, holds in ((0.70, None), (0.705, True)):
        keep_evidence(place, outside[0], beside + noise)
        assert claim_of(outside)["holds"] is holds
    text = claim_of(outside)["text"]
    assert "x 1: -0.50 ± 0.00, x 20: -0.50 ± 0.00. The claim holds even beyond" in text


def test_the_table_has_single_classifiers_and_their_average(cells, tmp_path):
    place = Workplace(tmp_path / "runs", tmp_path / "out")
    cell = replace(cells[0], row="1")
    keep_evidence(place, cell, np.full(25, 0.7))
    table = EXPERIMENT.table(measurements([cell], place))
    (result,) = table.data["results"]
    assert result["samples"]["posterior single"] == {"mean": 0.5, "ci95": 0.01}
    assert "| 1 | x 1 | 70.00 ± 0.00 | 0.020 (+0.020) | 50.00 ± 1.00 |" in table.markdown
    picture = EXPERIMENT.figure(table.data)
    assert has_color(picture, BLUE), "the prior"
    assert has_color(picture, VERMILION), "the posterior"
