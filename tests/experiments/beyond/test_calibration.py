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
    row = "| samovar | 1-shot | 0.7000 | 0.7000 | 0.020 (+0.020) | 0.020 (+0.020) |"
    assert row in table.markdown, "one seed has no interval"
    assert "+ is too sure" in table.markdown
    assert "versa" not in table.markdown
    assert picture is not None
    keep_evidence(place, cells[2], np.full(25, 0.9))
    table = EXPERIMENT.table(measurements(cells, place))
    line = "- 1-shot: samovar - versa: -0.2000 ± 0.0000 (one training seed)"
    assert line in table.markdown
    (difference,) = table.data["paired"]
    assert difference["published"] is None


def test_the_calibration_error_of_several_seeds_has_an_interval(cells, tmp_path):
    place = Workplace(tmp_path / "runs", tmp_path / "out")
    for cell in cells[:2]:
        keep_evidence(place, cell, np.full(25, 0.7))
    table = EXPERIMENT.table(measurements(cells, place))
    assert "0.020 ± 0.000 (+0.020)" in table.markdown
    entry = table.data["cells"][0]
    assert entry["ece_ci95"] == 0
    assert round(entry["mean_classifier_gap"], 6) == 0.02
