"""Measured quantiles have their share on other tasks of the same shape."""

import numpy as np
import pytest
import torch
from helpers import noisy_store
from helpers_photos import clouds

from samovar.data.collections import VectorCollection
from samovar.data.dataset import Dataset
from samovar.data.normalization import Normalization
from samovar.evaluation.task_runner import TaskRunner
from samovar.evaluation.transferred_quantiles import (
    measure_quantiles,
    measure_regression_quantiles,
)
from samovar.models.closed_form import ClosedForm
from samovar.models.few_shot_model import FewShotModel
from samovar.settings.model import ModelSettings
from samovar.settings.tasks import Protocol


def test_a_network_has_its_share_on_other_tasks(tmp_path):
    dataset = Dataset(noisy_store(tmp_path))
    model = FewShotModel(ModelSettings(size=12, width=8)).eval()
    normalization = Normalization.standard(dataset.store)
    runner = TaskRunner(model, dataset, normalization, torch.device("cpu"))
    table = measure_quantiles(runner, seed=0)
    assert [cell.way for cell in table.cells] == [2, 3, 5]
    protocol = Protocol(3, 1, 10, episodes=60, samples=128, seed=1, quasi=True)
    inside = []
    for tasks in runner.infer_tasks(protocol):
        probabilities = runner.predict_sampled(tasks, protocol).probabilities
        at_label = probabilities.gather(-1, tasks.labels[..., None])
        inside.append((1 - at_label <= table.quantile(3, 0.8)).flatten())
    assert torch.cat(inside).double().mean().item() == pytest.approx(0.8, abs=0.07)


@torch.no_grad()
def test_a_regression_takes_the_most_cautious_collection():
    vectors, labels = clouds(classes=8, each=12)
    easy = VectorCollection.of("easy", vectors, labels)
    noise = np.random.default_rng(1).normal(scale=4, size=vectors.shape)
    hard = VectorCollection.of("hard", np.abs(vectors + noise), labels)
    model = ClosedForm()
    both = measure_regression_quantiles(model, [easy, hard], seed=0, tasks=10)
    alone = measure_regression_quantiles(model, [hard], seed=0, tasks=10)
    assert [cell.way for cell in both.cells] == [2, 3, 5]
    for first, second in zip(both.cells, alone.cells, strict=True):
        assert np.all(np.array(first.thresholds) >= np.array(second.thresholds))
    assert "easy, hard" in both.about


def test_data_that_are_too_small_measure_nothing():
    vectors, labels = clouds(classes=1, each=3)
    collection = VectorCollection.of("one", vectors, labels)
    assert measure_regression_quantiles(ClosedForm(), [collection], seed=0) is None
