"""Models at other shots than they were trained on: a mean over seeds for every shot."""

import numpy as np
from helpers_experiments import keep_evidence, measurements

from samovar.experiments.beyond.shots import EXPERIMENT
from samovar.experiments.evidence import Workplace
from samovar.experiments.runner import build


def test_every_measured_model_is_shown_at_every_shot(cells, tmp_path):
    place = Workplace(tmp_path / "runs", tmp_path / "out")
    for cell, accuracy in zip(cells[:3], (0.5, 0.6, 0.4), strict=True):
        keep_evidence(place, cell, np.full(25, accuracy))
    table, picture = build(EXPERIMENT, measurements(cells, place))
    assert len(table.data["results"]) == 6  # three cells at two shots
    assert {result["shot"] for result in table.data["results"]} == {1, 2}
    assert "| | 1-shot | 2-shot |" in table.markdown
    seeds = "55.0 / 0.550 / 0.020 ± 0.000 (+0.020)"
    assert f"| samovar, trained on 1-shot | {seeds} | {seeds} |" in table.markdown
    assert picture is not None
