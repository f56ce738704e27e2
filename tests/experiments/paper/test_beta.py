"""The betas are multiples of the preset's own, and the claim on them is judged around our best."""

from dataclasses import replace

import numpy as np
import pytest
from helpers_experiments import keep_evidence

from samovar.experiments import traces
from samovar.experiments.cells import EXPERIMENTS
from samovar.experiments.reproduce import Workplace
from samovar.settings.presets import PRESETS


def test_betas_are_multiples_of_the_presets_own():
    for cell in EXPERIMENTS["beta"]("paper"):
        own = PRESETS[f"table1-samovar-{cell.settings.episodes.shot}shot"].settings.model.beta
        assert cell.settings.model.beta == pytest.approx(float(cell.row) * own)


def test_the_claim_on_beta_is_judged_around_our_best(cells, tmp_path):
    place = Workplace(tmp_path / "runs", tmp_path / "out")
    noise = np.random.default_rng(0).normal(0, 0.02, 2000)
    tried = [replace(cells[0], name=f"beta {m}", row=str(m)) for m in (0.5, 1.0, 5.0, 8.0)]
    assert "0 of 4" in traces.beta("cpu", tried, place).data["claims"][0]["text"]
    for cell, accuracy in zip(tried, (0.60, 0.70, 0.71, 0.705), strict=True):
        keep_evidence(place, cell, accuracy + noise)
    (claim,) = traces.beta("cpu", tried, place).data["claims"]
    assert claim["holds"]
    assert "best is x 5; against it x 8: -0.50" in claim["text"]
    keep_evidence(place, tried[3], 0.69 + noise)
    (claim,) = traces.beta("cpu", tried, place).data["claims"]
    assert claim["holds"] is False
    outside = [
        tried[1],
        tried[2],
        replace(cells[0], name="beta 20", row="20.0"),
    ]  # 1 and 20: beyond the range of 5
    keep_evidence(place, outside[2], 0.705 + noise)
    for beside, holds in ((0.70, None), (0.705, True)):
        keep_evidence(place, outside[0], beside + noise)
        (claim,) = traces.beta("cpu", outside, place).data["claims"]
        assert claim["holds"] is holds
    assert "x 1: -0.50 ± 0.00, x 20: -0.50 ± 0.00: it holds even beyond" in claim["text"]
