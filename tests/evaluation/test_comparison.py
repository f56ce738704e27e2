"""Paired differences are those computed by hand, and unequal measurements are refused."""

import json
from dataclasses import replace

import numpy as np
import pytest
from helpers import keep_evaluation
from scipy import stats

from samovar.errors import RunError
from samovar.evaluation.comparison import compare
from samovar.evaluation.differences import CalibrationDifference
from samovar.evaluation.metrics import Estimate, calibration_gaps
from samovar.evaluation.stored_evaluation import StoredEvaluation

RNG = np.random.default_rng(0)


def read(*folders) -> list[StoredEvaluation]:
    return [StoredEvaluation.read(folder, "predictive") for folder in folders]


def test_paired_difference_by_hand(tmp_path):
    a, b = np.array([0.5, 0.7, 0.9, 0.6]), np.array([0.4, 0.7, 0.7, 0.6])
    result = compare(
        read(keep_evaluation(tmp_path / "a", a)), read(keep_evaluation(tmp_path / "b", b))
    )
    assert result.paired["accuracy"].mean == pytest.approx(np.mean(a - b))
    assert result.paired["accuracy"].ci95 == pytest.approx(1.96 * np.std(a - b, ddof=1) / 2)
    assert result.paired["nll"].mean == pytest.approx(-np.mean(a - b))
    assert result.seeds["accuracy"].difference is None


def test_the_difference_of_calibration_errors_is_first_minus_second(tmp_path):
    """All in one bin of five queries, 3 right: the first says 0.8, the second 0.65."""
    folders = [keep_evaluation(tmp_path / name, np.full(20, 0.6)) for name in "ab"]
    for folder, confidence in zip(folders, (0.8, 0.65), strict=True):
        with np.load(folder / "evaluation.npz") as stored:
            arrays = dict(stored)
        arrays["predictive_bins"] = np.zeros((20, 15, 3))
        arrays["predictive_bins"][:, 9] = (5, 5 * confidence, 3)
        np.savez(folder / "evaluation.npz", **arrays)
    found = compare(*folders).paired_ece
    assert found.mean == pytest.approx(0.2 - 0.05)
    assert found.ci95 == pytest.approx([0.15, 0.15])


def test_seeds_are_compared_by_welchs_test(tmp_path):
    groups = [
        [RNG.normal(mean, 0.1, 50) for _ in range(count)] for mean, count in ((0.7, 3), (0.6, 4))
    ]
    folders = [
        [keep_evaluation(tmp_path / f"{g}{i}", values) for i, values in enumerate(group)]
        for g, group in enumerate(groups)
    ]
    found = compare(*folders).seeds["accuracy"].difference
    means = [[values.mean() for values in group] for group in groups]
    interval = stats.ttest_ind(*means, equal_var=False).confidence_interval(0.95)
    assert found.mean - found.ci95 == pytest.approx(interval.low)
    assert found.mean + found.ci95 == pytest.approx(interval.high)


def test_seeds_without_spread_or_given_twice(tmp_path):
    values = np.array([0.5, 0.7])
    a, b, c, d = (keep_evaluation(tmp_path / name, values) for name in "abcd")
    assert compare(read(a, b), read(c, d)).seeds["accuracy"].difference is None
    with pytest.raises(RunError, match="given twice"):
        compare(read(a, a), read(c, d))


def test_a_model_does_not_differ_from_itself(tmp_path):
    folder = keep_evaluation(tmp_path / "a", np.array([0.5, 0.7]))
    result = compare(read(folder), read(folder))
    assert result.paired["accuracy"] == Estimate(0.0, 0.0)
    assert result.paired_ece == CalibrationDifference(0.0, [0.0, 0.0])


@pytest.mark.parametrize(
    ("changed", "words"),
    [({"shot": 5}, "shot (1 and 5)"), ({"data": "other"}, "data or its split (toy and")],
)
def test_unequal_measurements_are_refused(tmp_path, changed, words):
    values = np.array([0.5, 0.7])
    with pytest.raises(RunError, match="measured differently") as caught:
        compare(
            read(keep_evaluation(tmp_path / "a", values)),
            read(keep_evaluation(tmp_path / "b", values, **changed)),
        )
    assert words in str(caught.value)


def test_a_setting_that_only_one_side_has_is_a_difference_in_either_order(tmp_path):
    folders = [keep_evaluation(tmp_path / name, np.array([0.5, 0.7])) for name in "ab"]
    summary = json.loads((folders[1] / "evaluation.json").read_text())
    summary["protocol"]["quasi"] = True
    (folders[1] / "evaluation.json").write_text(json.dumps(summary))
    with pytest.raises(RunError, match=r"quasi \(None and True\)"):
        compare(*folders)
    with pytest.raises(RunError, match=r"quasi \(True and None\)"):
        compare(*reversed(folders))


def test_folders_are_compared_as_the_evaluations_that_are_read_from_them(tmp_path):
    folders = [keep_evaluation(tmp_path / name, RNG.random(6)) for name in "abcd"]
    first, second = folders[:2], folders[2:]
    assert compare(first, second) == compare(read(*first), read(*second))
    single = compare(str(folders[0]), folders[1])
    assert single.first == [str(folders[0])]
    assert single.seeds["nll"].first.std is None
    with pytest.raises(RunError, match="at least one evaluation"):
        compare([], folders[1])


def test_predictors_are_chosen_by_name(tmp_path):
    first = keep_evaluation(tmp_path / "a", np.array([0.5, 0.7]))
    second = keep_evaluation(tmp_path / "b", np.array([0.4, 0.7]), predictor="mean_classifier")
    comparison = compare(first, second, second_by="mean_classifier")
    assert comparison.paired["accuracy"].mean == pytest.approx(0.05)
    stored = comparison.to_json()
    assert (stored["first_by"], stored["second_by"]) == ("predictive", "mean_classifier")


def test_the_json_form_has_its_keys_and_survives_a_file(tmp_path):
    folders = [keep_evaluation(tmp_path / name, RNG.random(6)) for name in "abcd"]
    stored = compare(folders[:2], folders[2:]).to_json()
    keys = ["format", "protocol", "data", "first", "second", "paired", "seeds"]
    assert list(stored) == [*keys, "first_by", "second_by"]
    assert list(stored["paired"]) == ["accuracy", "nll", "brier", "gap", "ece"]
    assert list(stored["seeds"]) == ["accuracy", "nll", "brier", "ece", "gap"]
    difference = stored["seeds"]["brier"]["difference"]
    assert list(difference) == ["mean", "ci95", "degrees_of_freedom"]
    assert json.loads(json.dumps(stored)) == stored


def test_evaluations_of_other_numbers_of_tasks_are_refused(tmp_path):
    """Their protocols may be silent about it."""
    folders = [keep_evaluation(tmp_path / str(n), np.full(n, 0.5)) for n in (3, 4)]
    with pytest.raises(RunError, match="number of tasks"):
        compare(*folders)


def test_calibration_is_compared_only_where_its_bins_were_kept(tmp_path):
    folders = [keep_evaluation(tmp_path / name, RNG.random(6)) for name in "ab"]
    evaluations = read(*folders)
    comparison = compare(*evaluations)
    gaps = [calibration_gaps(evaluation.bins) for evaluation in evaluations]
    assert comparison.paired["gap"] == Estimate.of(gaps[0] - gaps[1])
    assert comparison.seeds["gap"].first.mean == pytest.approx(gaps[0].mean())
    assert comparison.seeds["ece"].first.mean - comparison.seeds["ece"].second.mean == (
        pytest.approx(comparison.paired_ece.mean)
    )
    without = compare(replace(evaluations[0], bins=None), evaluations[1])
    assert without.paired_ece is None
    assert without.to_json()["paired"]["gap"] is None


def test_one_task_has_a_difference_without_an_interval(tmp_path):
    folders = [keep_evaluation(tmp_path / name, np.array([0.6])) for name in "ab"]
    found = compare(*folders)
    assert found.paired["accuracy"] == Estimate(0.0, None)
    assert found.paired_ece.ci95 is None
    assert json.loads(json.dumps(found.to_json()))["paired"]["nll"]["ci95"] is None
