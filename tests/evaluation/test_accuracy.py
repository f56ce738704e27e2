"""The accuracy alone is that of a whole evaluation, and its interval covers."""

from dataclasses import replace

import numpy as np
import pytest
import torch

from samovar.data.dataset import Dataset
from samovar.data.normalization import Normalization
from samovar.data.preparation import prepare
from samovar.evaluation.accuracy import Accuracy, measure_accuracy
from samovar.evaluation.evaluator import Evaluator, training_dataset
from samovar.evaluation.predictors import Predictor
from samovar.evaluation.task_runner import TaskRunner
from samovar.models.few_shot_model import FewShotModel
from samovar.settings.model import ModelSettings
from samovar.settings.tasks import Protocol

CPU = torch.device("cpu")


def test_interval():
    tasks = np.array([0.2, 0.4, 0.9, 0.5])
    accuracy = Accuracy.of(tasks)
    assert accuracy.mean == pytest.approx(0.5)
    assert accuracy.ci95 == pytest.approx(1.96 * np.std(tasks, ddof=1) / 2)
    assert str(accuracy) == "50.00 ± 28.85 %"
    single = Accuracy.of(np.array([1.0]))
    assert single.ci95 is None
    assert str(single) == "100.00 % (no interval)"


@pytest.mark.parametrize("changes", [{}, {"outside": 3}, {"quasi": True}, {"pooled_queries": True}])
def test_the_accuracy_alone_is_exactly_that_of_a_whole_evaluation(trained, changes):
    protocol = replace(Protocol(3, 2, 4, episodes=45, samples=20), **changes)
    evaluator = Evaluator(trained, training_dataset(trained, "test"))
    evaluation = evaluator.evaluate(protocol, temperature=False)
    accuracy = measure_accuracy(evaluator.runner(protocol), protocol)
    np.testing.assert_array_equal(accuracy.tasks, evaluation.tasks[Predictor.PREDICTIVE].accuracy)
    assert accuracy.to_json() == evaluation.summary["accuracy"]


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
    runner = TaskRunner(model, Dataset(store, "train"), Normalization.standard(store), CPU)
    protocol = Protocol(5, 1, 5, episodes=30, samples=1, split="train")
    truth = measure_accuracy(runner, replace(protocol, episodes=6000, seed=999)).mean
    covered = []
    for seed in range(200):
        accuracy = measure_accuracy(runner, replace(protocol, seed=seed))
        covered.append(abs(accuracy.mean - truth) <= accuracy.ci95)
    assert 0.89 < np.mean(covered) < 0.99
