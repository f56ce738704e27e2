"""Omniglot: four shapes under two protocols, beside what VERSA reports."""

import numpy as np
from helpers_experiments import keep_evidence, measurements

from samovar.experiments.beyond.omniglot import EXPERIMENT
from samovar.experiments.evidence import Workplace
from samovar.experiments.runner import build
from samovar.settings.stored import differences


def test_both_methods_differ_in_objective_and_classifier_only():
    ours, versa = EXPERIMENT.cells("cpu")
    changed = {difference.path for difference in differences(ours.settings, versa.settings)}
    assert changed == {("model", "method"), ("model", "classifier")}
    assert len(set(ours.protocols)) == 8


def test_ours_stand_beside_the_accuracies_that_versa_reports(tmp_path):
    place = Workplace(tmp_path / "runs", tmp_path / "out")
    ours, versa = EXPERIMENT.cells("cpu")
    keep_evidence(place, ours, np.full(5000, 0.98))
    table, picture = build(EXPERIMENT, measurements([ours, versa], place))
    assert len(table.data["results"]) == 8
    accuracy = "**98.00** ± 0.00"
    row = f"| 20-way 5-shot | samovar-sc | {accuracy} | 0.020 (+0.020) | {accuracy} | 98.77 |"
    assert row in table.markdown
    assert (
        "| 5-way 1-shot | versa | ready to run | | ready to run | 99.70 (unconfirmed) |"
        in table.markdown
    )
    assert picture is not None
