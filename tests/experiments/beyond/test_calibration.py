"""Calibration: NLL and ECE of both predictors, and paired differences in NLL."""

import numpy as np
from helpers_experiments import keep_evidence, measurements

from samovar.experiments.beyond.calibration import EXPERIMENT
from samovar.experiments.evidence import Workplace
from samovar.experiments.runner import build


def test_only_measured_models_are_shown_and_differences_are_in_nll(cells, tmp_path):
    place = Workplace(tmp_path / "runs", tmp_path / "out")
    keep_evidence(place, cells[0], np.full(25, 0.7))
    table, picture = build(EXPERIMENT, measurements(cells, place))
    assert "| samovar | 1-shot | 0.7000 | 0.7000 | 0.0000 | 0.0000 |" in table.markdown
    assert "versa" not in table.markdown
    assert picture is not None
    keep_evidence(place, cells[2], np.full(25, 0.9))
    table = EXPERIMENT.table(measurements(cells, place))
    line = "- 1-shot: samovar - versa: -0.2000 ± 0.0000 (one training seed)"
    assert line in table.markdown
    (difference,) = table.data["paired"]
    assert difference["published"] is None
