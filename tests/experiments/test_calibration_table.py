"""The table of NLL and calibration: what was measured, and nothing else."""

from samovar.experiments.calibration_table import calibration_lines, measured_entries

SAMPLED = {
    "row": "samovar",
    "column": "1-shot",
    "ours": {"mean": 0.5},
    "nll": 1.2,
    "mean_classifier_nll": 1.4,
    "ece": 0.06,
    "ece_ci95": 0.01,
    "gap": 0.06,
    "mean_classifier_ece": 0.2,
    "mean_classifier_ece_ci95": None,
    "mean_classifier_gap": -0.2,
}
DETERMINISTIC = SAMPLED | {
    "row": "tadam",
    "tempered_nll": 1.1,
    "tempered_ece": 0.02,
    "tempered_ece_ci95": None,
    "tempered_gap": -0.01,
}
UNMEASURED = {"row": "versa", "column": "1-shot", "ours": None}


def test_entries_that_were_not_measured_are_left_out():
    assert measured_entries([SAMPLED, UNMEASURED]) == [SAMPLED]
    assert "versa" not in "\n".join(calibration_lines([SAMPLED, UNMEASURED]))


def test_a_calibration_error_has_its_sign_and_its_interval_over_seeds():
    row = calibration_lines([SAMPLED])[-1]
    assert row == "| samovar | 1-shot | 1.2000 | 1.4000 | 0.060 ± 0.010 (+0.060) | 0.200 (-0.200) |"


def test_a_fitted_temperature_has_columns_where_some_entry_has_one():
    assert "temperature" not in "\n".join(calibration_lines([SAMPLED]))
    *_, head, _rule, sampled, deterministic = calibration_lines([SAMPLED, DETERMINISTIC])
    assert head.endswith("| NLL with a fitted temperature | ECE with a fitted temperature |")
    assert sampled.endswith("(-0.200) | | |")
    assert deterministic.endswith("| 1.1000 | 0.020 (-0.010) |")
    assert head.count("|") == sampled.count("|") == deterministic.count("|")
