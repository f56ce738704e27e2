"""Measured thresholds have their rates on other tasks, of collections near and far."""

import numpy as np
import pytest
import torch
from helpers_photos import clouds

from samovar.data.collections import VectorCollection
from samovar.evaluation.regression_thresholds import measure_regression_rejection
from samovar.models.closed_form import ClosedForm
from samovar.prediction.regression import left_out_level, rejection_score


def collection(name: str, spread: float, classes: int = 8, each: int = 20) -> VectorCollection:
    """Clouds of a spread of their own."""
    vectors, labels = clouds(classes=classes, each=each)
    noise = np.random.default_rng(5).normal(size=vectors.shape)
    return VectorCollection.of(name, np.abs(vectors + spread * noise), labels)


@torch.no_grad()
def test_thresholds_have_their_rates_although_collections_differ():
    near, far = collection("near", 0.1), collection("far", 1.5)
    model = ClosedForm()
    table = measure_regression_rejection(model, [near, far], seed=0, tasks=20)
    shapes = {(cell.way, cell.shot): cell for cell in table.cells}
    assert {way for way, _ in shapes} == {1, 2, 3, 5}
    assert shapes[5, 1].relative is None
    for name in (near, far):
        rejected = []
        for number in range(60):
            task = name.task(3, 5, 10, key=(1, "test", number))
            regression = model.infer(task.support, task.support_labels, 3)
            level = left_out_level(regression)
            threshold = table.threshold(3, np.full(3, 5), 0.1, level)
            rejected.append(rejection_score(regression.moments(task.query)) > threshold)
        assert torch.cat(rejected).double().mean().item() == pytest.approx(0.1, abs=0.06)


def test_collections_that_are_too_small_measure_nothing():
    tiny = VectorCollection.of("tiny", np.ones((1, 4)), np.zeros(1))
    assert measure_regression_rejection(ClosedForm(), [tiny], seed=0, tasks=1) is None
