"""Every rival is what its name says, and answers each task by itself."""

import numpy as np
import pytest
import torch
from sklearn.linear_model import LogisticRegression
from torch.nn import functional

from samovar.evaluation.predictors import RIVALS
from samovar.evaluation.rivals import LENGTH, LOGITS, TaskFeatures, in_span


def features(tasks: int = 3, way: int = 4, shot: int = 3, dimensions: int = 20) -> TaskFeatures:
    noise = torch.Generator().manual_seed(0)
    means = torch.randn(tasks, way, dimensions, generator=noise)
    labels = torch.arange(way).repeat_interleave(shot).expand(tasks, -1)
    support = means[:, labels[0]] + 0.7 * torch.randn(
        tasks, way * shot, dimensions, generator=noise
    )
    query = means + 0.7 * torch.randn(tasks, way, dimensions, generator=noise)
    return TaskFeatures.of(support, labels, query, way)


def test_every_rival_is_there():
    assert set(LOGITS) == set(RIVALS)


@pytest.mark.parametrize("rival", RIVALS)
@pytest.mark.parametrize("shot", [1, 3])
def test_rivals_tell_clouds_apart_and_tasks_do_not_see_each_other(rival, shot):
    tasks = features(shot=shot)
    logits = LOGITS[rival](tasks)
    assert logits.shape == (3, 4, 4)
    right = (logits.argmax(-1) == torch.arange(4)).double().mean()
    assert right > 0.7
    for number in range(3):
        alone = TaskFeatures(
            tasks.support[[number]], tasks.support_labels[[number]], tasks.query[[number]], 4
        )
        torch.testing.assert_close(LOGITS[rival](alone)[0], logits[number], rtol=1e-3, atol=1e-3)


@pytest.mark.parametrize("rival", RIVALS)
def test_answers_do_not_depend_on_the_order_of_the_support(rival):
    tasks = features()
    order = torch.randperm(12, generator=torch.Generator().manual_seed(1))
    shuffled = TaskFeatures(
        tasks.support[:, order], tasks.support_labels[:, order], tasks.query, tasks.way
    )
    expected = LOGITS[rival](tasks).softmax(-1)
    torch.testing.assert_close(LOGITS[rival](shuffled).softmax(-1), expected, rtol=0, atol=1e-3)


@pytest.mark.parametrize("way", [2, 4])
@pytest.mark.parametrize("dimensions", [5, 40])
def test_logistic_regression_is_that_of_scikit_learn_in_all_dimensions(way, dimensions):
    tasks = features(tasks=1, way=way, dimensions=dimensions)
    support = LENGTH * functional.normalize(tasks.support[0], dim=-1)
    query = LENGTH * functional.normalize(tasks.query[0], dim=-1)
    model = LogisticRegression(max_iter=1000).fit(support.numpy(), tasks.support_labels[0].numpy())
    ours = LOGITS[RIVALS[0]](tasks)[0].softmax(-1)
    np.testing.assert_allclose(ours, model.predict_proba(query.numpy()), atol=2e-3)


def test_the_span_keeps_all_products_with_the_support():
    tasks = features()
    support, query = in_span(tasks.support, tasks.query)
    assert support.shape == (3, 12, 12)
    torch.testing.assert_close(support @ support.mT, tasks.support @ tasks.support.mT)
    torch.testing.assert_close(query @ support.mT, tasks.query @ tasks.support.mT)


def test_prototypes_and_centroids_by_hand():
    support = torch.tensor([[[3.0, 0.0], [1.0, 0.0], [0.0, 2.0]]])
    query = torch.tensor([[[2.0, 0.0], [0.0, 5.0]]])
    tasks = TaskFeatures.of(support, torch.tensor([[0, 0, 1]]), query, 2)
    assert tasks.class_means.tolist() == [[[2, 0], [0, 2]]]
    prototypes, centroids = LOGITS[RIVALS[1]](tasks), LOGITS[RIVALS[3]](tasks)
    np.testing.assert_allclose(prototypes[0], [[0, -8], [-29, -9]], atol=1e-9)
    np.testing.assert_allclose(centroids[0], [[10, 0], [0, 10]], atol=1e-9)
