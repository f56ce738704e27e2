"""An evaluation has the stated intervals, temperatures and outside queries, and tests on no class of the training."""

from dataclasses import replace

import numpy as np
import pytest
import torch
from helpers import make_store
from helpers_training import TINY

import samovar
from samovar.data.dataset import Dataset
from samovar.data.episodes import EpisodeSampler, draw_outside
from samovar.data.normalization import Normalization
from samovar.data.preparation import prepare
from samovar.errors import DataError
from samovar.evaluation.evaluator import Accuracy, measure_accuracy, training_dataset
from samovar.evaluation.task_runner import TaskRunner
from samovar.models.few_shot_model import FewShotModel
from samovar.settings.data import DataSettings
from samovar.settings.model import ModelSettings
from samovar.settings.tasks import Protocol
from samovar.training.run import train

CPU = torch.device("cpu")


def test_interval():
    tasks = np.array([0.2, 0.4, 0.9, 0.5])
    accuracy = Accuracy.of(tasks)
    assert accuracy.mean == pytest.approx(0.5)
    assert accuracy.ci95 == pytest.approx(1.96 * np.std(tasks, ddof=1) / 2)
    assert str(accuracy) == "50.00 ± 28.85 %"
    assert Accuracy.of(np.array([1.0])).ci95 == 0


SMALL = Protocol(3, 2, 4, episodes=45, samples=20)


def test_queries_from_outside_are_of_other_classes_and_change_no_other_figure(trained):
    plain, mixed = (
        samovar.evaluate(trained, replace(SMALL, outside=outside)).summary for outside in (0, 6)
    )
    for name in ("accuracy", "nll", "brier", "ece", "reliability", "risk_coverage", "classes"):
        assert plain[name] == mixed[name], name
    assert plain["uncertainty"]["entropy"]["outside_auroc"] is None
    assert 0 < mixed["uncertainty"]["entropy"]["outside_auroc"]["value"] < 1
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
        (replace(SMALL, split="val"), "these are evaluated"),
    ):
        summary = samovar.evaluate(trained, protocol).summary
        assert "mean_classifier_tempered" not in summary
        assert reason in summary["temperature_note"]


def test_intervals_of_small_evaluations_cover_the_long_run_mean(tmp_path):
    """Real tasks, real model: 200 evaluations of 30 tasks, each under a seed of its own."""
    noise = np.random.default_rng(0)
    labels = np.arange(600) % 20
    np.savez(
        tmp_path / "f.npz",
        features=noise.normal(size=(20, 6))[labels] + noise.normal(size=(600, 6)),
        labels=labels,
    )
    store = prepare("features", tmp_path / "f.npz")
    model = FewShotModel(
        ModelSettings(
            method="prototypes", classifier="squared", alpha=1.0, backbone="identity", size=6
        )
    )
    evaluator = TaskRunner(model, Dataset(store, "train"), Normalization.standard(store), CPU)
    protocol = Protocol(5, 1, 5, episodes=30, samples=1, split="train")
    truth = measure_accuracy(evaluator, replace(protocol, episodes=6000, seed=999)).mean
    found = [measure_accuracy(evaluator, replace(protocol, seed=seed)) for seed in range(200)]
    assert 0.89 < np.mean([abs(each.mean - truth) <= each.ci95 for each in found]) < 0.99


def test_a_model_of_own_data_is_not_tested_on_data_prepared_anew(tmp_path, data_folder):
    names = [f"class {i}" for i in range(12)]
    first, second = (
        {"train": part[:6], "val": part[6:9], "test": part[9:]} for part in (names, names[::-1])
    )
    make_store(data_folder, [10] * 12, (12, 12, 3), first, "mine", source_name="folder")
    run = train(replace(TINY, updates=1, data=DataSettings("mine")), tmp_path / "run")
    assert len(training_dataset(run.model, "test")) == 3
    make_store(data_folder, [10] * 12, (12, 12, 3), second, "mine", source_name="folder")
    with pytest.raises(DataError, match="may have been for training then"):
        training_dataset(run.model, "test")
