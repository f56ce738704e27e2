"""Experiments go from nothing to tables, and back to tables without the weights."""

import shutil
from dataclasses import replace

import numpy as np
import pytest
from helpers_experiments import measurements
from helpers_images import drawn

from samovar.experiments.evidence import Evidence, Workplace
from samovar.experiments.registry import find_experiment
from samovar.experiments.runner import build, train_and_measure


@pytest.mark.slow
def test_from_nothing_to_tables_and_back_without_weights(cells, tmp_path):
    place = Workplace(tmp_path / "runs", tmp_path / "results")
    table1 = find_experiment("table1")
    assert {Evidence(cell, place).state for cell in cells} == {"missing"}
    assert "ready to run" in table1.table(measurements(cells, place)).markdown
    train_and_measure(cells[:3], place, lambda _: None, measure_only=False)
    states = [Evidence(cell, place).state for cell in cells]
    assert states == ["measured", "measured", "measured", "missing"]
    table = table1.table(measurements(cells, place))
    ours = {entry["row"]: entry["ours"] for entry in table.data["cells"]}
    assert (len(ours["samovar"]["seeds"]), len(ours["versa"]["seeds"])) == (2, 1)
    (pair,) = table.data["paired"]
    assert pair["published"] == pytest.approx(0.1)
    with (
        np.load(place.evaluation(cells[0]) / "evaluation.npz") as first,
        np.load(place.evaluation(cells[2]) / "evaluation.npz") as second,
    ):
        difference = first["predictive_accuracy"] - second["predictive_accuracy"]
        assert pair["mean"] == pytest.approx(difference.mean(), abs=1e-6)
    assert "CPU scale" in table.markdown
    assert "50.0 ±" in table.markdown.partition("Published,")[2]
    shutil.rmtree(place.runs)  # weights and checkpoints are gone
    assert table1.table(measurements(cells, place)).data == table.data
    for name in ("table1", "shots", "calibration", "collapse"):
        _, picture = build(find_experiment(name), measurements(cells, place))
        assert picture is not None
        drawn(picture)
    betas = [replace(cell, row=str(1.0 + i)) for i, cell in enumerate(cells[:2])]
    beta_table, picture = build(find_experiment("beta"), measurements(betas, place))
    assert "posterior single" in beta_table.markdown
    assert picture is not None
    drawn(picture)
