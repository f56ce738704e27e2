"""Stored evaluations are found by run, model or folder, and damaged ones are refused by name."""

import json

import numpy as np
import pytest
from helpers import keep_evaluation

from samovar.errors import RunError, SettingsError
from samovar.evaluation.predictors import Predictor
from samovar.evaluation.stored_evaluation import EvaluatedData, StoredEvaluation

VALUES = np.array([0.5, 0.7])


def test_an_evaluation_is_read_as_it_was_written(tmp_path):
    stored = StoredEvaluation.read(keep_evaluation(tmp_path / "a", VALUES))
    assert stored.predictor is Predictor.PREDICTIVE
    assert stored.metrics["accuracy"] == pytest.approx(VALUES)
    assert stored.metrics["brier"] == pytest.approx(2 - VALUES)
    assert stored.bins.shape == (2, 15, 3)
    assert stored.protocol["shot"] == 1
    assert stored.data == EvaluatedData("toy", "toy", None)


def test_a_run_stands_for_its_evaluation(tmp_path):
    folder = keep_evaluation(tmp_path / "run" / "evaluation", VALUES)
    assert StoredEvaluation.read(tmp_path / "run").folder == folder
    assert StoredEvaluation.read(str(folder)).folder == folder


def test_bins_may_be_missing(tmp_path):
    folder = keep_evaluation(tmp_path / "a", VALUES)
    with np.load(folder / "evaluation.npz") as arrays:
        kept = {name: arrays[name] for name in arrays if not name.endswith("bins")}
    np.savez(folder / "evaluation.npz", **kept)
    assert StoredEvaluation.read(folder).bins is None


def test_files_that_do_not_belong_together_or_hold_objects_are_refused(tmp_path):
    folder = keep_evaluation(tmp_path / "a", np.full(4, 0.5))
    np.savez(
        folder / "evaluation.npz",
        **{f"predictive_{name}": np.zeros(3) for name in ("accuracy", "nll", "brier")},
    )
    with pytest.raises(RunError, match="do not belong together"):
        StoredEvaluation.read(folder)
    objects = {
        f"predictive_{name}": np.array([{}] * 4, object) for name in ("accuracy", "nll", "brier")
    }
    np.savez(folder / "evaluation.npz", **objects)
    with pytest.raises(RunError, match="cannot be read"):
        StoredEvaluation.read(folder)


@pytest.mark.parametrize("damage", ["cut", "empty", "list"])
def test_damaged_evaluations_are_named(tmp_path, damage):
    folder = keep_evaluation(tmp_path / "a", VALUES)
    content = (folder / "evaluation.npz").read_bytes()
    if damage == "list":
        (folder / "evaluation.json").write_text("[]")
    else:
        (folder / "evaluation.npz").write_bytes(
            content[: len(content) // 2] if damage == "cut" else b""
        )
    with pytest.raises(RunError, match="cannot be read"):
        StoredEvaluation.read(folder)


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"episodes": "two"}, "episodes must be a whole number, but is text"),
        ({"episodes": 2.5}, "episodes must be a whole number"),
        ({"episodes": 10**400}, "too large"),
        ({"data": ["toy"]}, "data must be text"),
        ({"data_identity": 3}, "data_identity must be text or null"),
        ({"protocol": "5-way"}, "protocol must be a table"),
        ({"protocol": {"way": [5]}}, "way|must be"),
        ({"protocol": {"way": 5, "text": 3}}, "text must be text"),
        ({"protocol": {"way": 5}}, "has no 'text'"),
        ({"episodes": 3}, "do not belong together"),
    ],
)
def test_summaries_of_other_contents_are_refused(tmp_path, changes, words):
    folder = keep_evaluation(tmp_path / "a", VALUES)
    summary = json.loads((folder / "evaluation.json").read_text())
    (folder / "evaluation.json").write_text(json.dumps(summary | changes))
    with pytest.raises(RunError, match=words) as error:
        StoredEvaluation.read(folder)
    assert str(folder) in str(error.value)


@pytest.mark.parametrize(
    ("name", "array"),
    [
        ("accuracy", np.array(["a", "b"])),
        ("accuracy", np.array([0.5, np.nan])),
        ("accuracy", np.array([0.5, 1e300])),
        ("accuracy", np.zeros((2, 3))),
        ("accuracy", np.array(0.5)),
        ("accuracy", np.array([True, False])),
        ("nll", np.array([0.5, np.inf])),
        ("nll", np.zeros(2, [("a", "f4")])),
        ("bins", np.zeros((2, 14, 3))),
        ("bins", np.zeros((2, 15, 3))),
        ("bins", np.full((2, 15, 3), -1.0)),
        ("bins", np.zeros(2)),
    ],
)
def test_arrays_of_other_contents_are_refused(tmp_path, name, array):
    folder = keep_evaluation(tmp_path / "a", VALUES)
    with np.load(folder / "evaluation.npz") as arrays:
        kept = dict(arrays)
    np.savez(folder / "evaluation.npz", **kept | {f"predictive_{name}": array})
    with pytest.raises(
        RunError, match=r"plausible numbers|several values|bins that|belong together"
    ):
        StoredEvaluation.read(folder)


def test_what_is_missing_is_named(tmp_path):
    folder = keep_evaluation(tmp_path / "a", VALUES)
    summary = json.loads((folder / "evaluation.json").read_text())
    del summary["data_checksum"]
    (folder / "evaluation.json").write_text(json.dumps(summary))
    with pytest.raises(RunError, match="has no 'data_checksum'"):
        StoredEvaluation.read(folder)
    with pytest.raises(RunError, match="samovar evaluate"):
        StoredEvaluation.read(tmp_path / "nothing")
    with pytest.raises(SettingsError, match="There is no predictor 'guess'"):
        StoredEvaluation.read(folder, "guess")


def test_data_without_an_identity_is_compared_by_its_images():
    old, new = EvaluatedData("toy", "images", None), EvaluatedData("toy", "images", "a")
    assert old.matches(new)
    assert not new.matches(EvaluatedData("toy", "images", "b"))
    assert not old.matches(EvaluatedData("toy", "other images", "a"))
