"""An evaluation has temperatures and outside queries as stated, and tests no training class."""

import io
from dataclasses import replace

import numpy as np
import pytest
from helpers import CALIBRATION, make_store
from helpers_training import TINY
from sklearn.metrics import roc_auc_score

import samovar
from samovar.data.episodes import EpisodeSampler, draw_outside
from samovar.errors import DataError
from samovar.evaluation.evaluator import Evaluator, training_dataset
from samovar.evaluation.outcomes import OUTSIDE
from samovar.evaluation.predictors import OF_MODEL, RIVALS, Predictor
from samovar.models.backbones.layers import norm_modes
from samovar.settings.data import DataSettings
from samovar.settings.tasks import Protocol
from samovar.training.run import train

SMALL = Protocol(3, 2, 4, episodes=45, samples=20)


def test_queries_from_outside_are_of_other_classes_and_change_no_other_metric(trained):
    plain, mixed = (
        samovar.evaluate(trained, replace(SMALL, outside=outside)).summary for outside in (0, 6)
    )
    for name in ("accuracy", "nll", "brier", "ece", "reliability", "risk_coverage", "classes"):
        assert plain[name] == mixed[name], name
    assert plain["uncertainty"]["entropy"]["outside_auroc"] is None
    protocol = replace(SMALL, outside=6)
    runner = Evaluator(trained, training_dataset(trained, "test")).runner(protocol)
    outcomes = runner.outcomes(protocol)["predictive"]
    assert ((outcomes.label == OUTSIDE).sum(1) == 6).all()
    expected = roc_auc_score(outcomes.label.ravel() == OUTSIDE, outcomes.entropy.ravel())
    found = mixed["uncertainty"]["entropy"]["outside_auroc"]["value"]
    assert found == pytest.approx(expected)
    assert mixed["mean_classifier"]["uncertainty"]["mutual_information"] is None
    dataset = training_dataset(trained, "test")
    episodes = EpisodeSampler(dataset, SMALL.tasks, 0).draw(7, 5)
    others = draw_outside(dataset, episodes, 7, 50, seed=0)
    classes = np.searchsorted(dataset.starts, others, side="right") - 1
    assert not (classes[:, :, None] == episodes.classes[:, None]).any()
    assert (others < (dataset.starts + dataset.counts)[classes]).all()
    assert len(np.unique(classes[0])) == len(dataset) - 3, "every other class is drawn"
    np.testing.assert_array_equal(
        others[2:3],
        draw_outside(dataset, EpisodeSampler(dataset, SMALL.tasks, 0).draw(9, 1), 9, 50, 0),
    )


def test_temperatures_are_fitted_on_validation_classes_or_the_reason_is_given(trained):
    summary = samovar.evaluate(trained, SMALL).summary
    assert summary["mean_classifier_tempered"]["temperature"] > 0
    assert "toy (val, 7 classes)" in summary["temperature_note"]
    assert summary["mean_classifier_tempered"]["accuracy"] == summary["mean_classifier"]["accuracy"]
    for protocol, reason in (
        (replace(SMALL, way=8), "too few classes"),
        (replace(SMALL, split="val"), "which are evaluated here"),
    ):
        summary = samovar.evaluate(trained, protocol).summary
        assert "mean_classifier_tempered" not in summary
        assert reason in summary["temperature_note"]


def test_results_and_summary_are_the_same_numbers(trained):
    evaluation = samovar.evaluate(replace(trained, calibration=CALIBRATION), SMALL)
    assert evaluation.summary == evaluation.results.to_json()
    assert evaluation.summary is evaluation.summary, "a user may keep a reference to a part of it"
    assert list(evaluation.tasks) == list(evaluation.results.metrics) == list(OF_MODEL)
    with np.load(io.BytesIO(evaluation.tasks_file(bins=False))) as arrays:
        assert "predictive_accuracy" in arrays
        assert "predictive_bins" not in arrays
    with np.load(io.BytesIO(evaluation.tasks_file())) as arrays:
        assert arrays["mean_classifier_tempered_bins"].shape == (45, 15, 3)


def test_the_ranked_classes_are_those_of_the_drawn_tasks(trained):
    """Their queries are counted from tasks that are drawn again here."""
    classes = samovar.evaluate(trained, SMALL, temperature=False).results.classes
    dataset = training_dataset(trained, "test")
    drawn = EpisodeSampler(dataset, SMALL.tasks, SMALL.seed).draw(0, SMALL.episodes).classes
    queries = {}
    for position, name in enumerate(dataset.class_names):
        queries[name] = int((drawn == position).sum()) * SMALL.queries
    for row in (*classes.hardest, *classes.easiest):
        assert row.queries == queries[row.name]


def test_an_evaluator_leaves_the_users_model_alone_and_embeds_a_split_once(trained):
    evaluator = Evaluator(trained, training_dataset(trained, "test"))
    runner = evaluator.runner(SMALL)
    assert evaluator.runner(replace(SMALL, shot=1, seed=5)) is runner
    assert evaluator.runner(replace(SMALL, norm="episode")) is not runner
    assert runner.model is not trained.model
    assert norm_modes(trained.model) == {"running"}


def test_a_protocol_that_data_cannot_give_is_refused_before_any_image_is_embedded(trained):
    evaluator = Evaluator(trained, training_dataset(trained, "test"))
    with pytest.raises(DataError, match="too few classes"):
        evaluator.check(replace(SMALL, way=30))
    with pytest.raises(DataError, match="too few classes"):
        evaluator.evaluate(replace(SMALL, way=30))
    assert not evaluator._runners


def test_a_model_of_own_data_is_not_tested_on_data_prepared_anew(tmp_path, data_folder):
    names = [f"class {i}" for i in range(12)]
    first, second = (
        {"train": part[:6], "val": part[6:9], "test": part[9:]} for part in (names, names[::-1])
    )
    make_store(data_folder, [10] * 12, (12, 12, 3), first, "mine", source_name="folder")
    run = train(replace(TINY, updates=1, data=DataSettings("mine")), tmp_path / "run")
    assert len(training_dataset(run.model, "test")) == 3
    make_store(data_folder, [10] * 12, (12, 12, 3), second, "mine", source_name="folder")
    with pytest.raises(DataError, match="may have been used for training"):
        training_dataset(run.model, "test")


def test_rivals_are_measured_beside_the_model_without_changing_it(trained):
    trained = replace(trained, calibration=CALIBRATION)
    plain = samovar.evaluate(trained, replace(SMALL, outside=6))
    beside = samovar.evaluate(trained, replace(SMALL, outside=6), rivals=True)
    stored = beside.summary
    rivals = stored.pop("rivals")
    assert stored.pop("rivals_note") == "fitted on 45 tasks of toy (val, 7 classes)"
    assert stored == plain.summary
    assert "rivals" not in plain.summary
    assert set(beside.tasks) == set(Predictor)
    for rival in RIVALS:
        tempered = rivals[rival.tempered]
        # A temperature changes no answer, but rounds very small probabilities differently.
        accuracy = rivals[rival]["accuracy"]["mean"]
        assert tempered["accuracy"]["mean"] == pytest.approx(accuracy, abs=0.01)
        assert tempered["temperature"] > 0
        assert rivals[rival]["uncertainty"]["energy"]["outside_auroc"]["value"] > 0
        assert rivals[rival]["uncertainty"]["mutual_information"] is None
        difference = tempered["model_minus_this"]["nll"]["mean"]
        assert difference == pytest.approx(stored["nll"]["mean"] - tempered["nll"]["mean"])


def test_rivals_without_validation_tasks_come_as_they_are(trained):
    for protocol, flags, reason in (
        (replace(SMALL, way=8), {}, "too few classes"),
        (SMALL, {"temperature": False}, "as requested"),
    ):
        summary = samovar.evaluate(trained, protocol, rivals=True, **flags).summary
        assert set(summary["rivals"]) == set(RIVALS)
        assert reason in summary["rivals_note"]
