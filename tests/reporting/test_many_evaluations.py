"""One table and one JSON file over many evaluations."""

import json

import numpy as np
import pytest

from samovar.cli.main import main
from samovar.reporting.many_evaluations import EvaluationRow, report_evaluations


@pytest.mark.usefixtures("trained")
def test_rows_have_the_metrics_of_their_evaluations(tmp_path, capsys):
    flags = ["--way", "3", "--queries", "4", "--episodes", "6", "--samples", "10"]
    folder = tmp_path / "out"
    assert main(["evaluate", str(tmp_path / "run"), *flags, "--out", str(folder)]) == 0
    capsys.readouterr()
    row = EvaluationRow.read(tmp_path / "run", folder)
    accuracies = np.load(folder / "evaluation.npz")["predictive_accuracy"]
    assert row.accuracy.mean == pytest.approx(float(accuracies.mean()))
    report_evaluations([(tmp_path / "run", folder)], tmp_path)
    assert "3-way 1-shot" in capsys.readouterr().out
    (stored,) = json.loads((tmp_path / "evaluations.json").read_text())
    assert stored == json.loads(json.dumps(row.to_json()))
