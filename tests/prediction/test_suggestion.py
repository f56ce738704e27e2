"""Suggestions: the variance that a label takes away is exact, and copies tell nothing new."""

import numpy as np
import pytest
import torch
from helpers_photos import clouds
from hypothesis import given, settings
from hypothesis import strategies as st

from samovar.models.closed_form import ClosedForm, TaskShape, unit_features
from samovar.prediction.suggestion import (
    LABEL_NOISE,
    MOST_CANDIDATES,
    choose,
    doubt_of,
    feature_covariance,
    most_doubtful,
    regression_covariance,
)


def regression_and_heap():
    vectors, labels = clouds(classes=3, each=4)
    support = torch.from_numpy(vectors[::2])
    regression = ClosedForm().infer(support, torch.from_numpy(labels[::2]), 3)
    return regression, torch.from_numpy(clouds(seed=1, classes=3, each=4)[0])


@torch.no_grad()
def test_the_diagonal_of_the_covariance_is_the_variance_of_the_regression():
    regression, heap = regression_and_heap()
    covariance, ridge = regression_covariance(regression, heap)
    np.testing.assert_allclose(covariance.diagonal(), regression.moments(heap).variance, atol=1e-12)
    assert np.linalg.eigvalsh(covariance.numpy()).min() > -1e-12
    shape = TaskShape(3, 2, regression.shape.dispersion)
    assert ridge == pytest.approx(float(regression.model.log_ridge(shape).exp()))


@torch.no_grad()
def test_conditioning_on_an_image_is_what_a_regression_with_it_says():
    """k(x, x') - k(x, z) k(z, x') / (r + k(z, z)) is the posterior with z in the support.

    The label of z has less noise than the others, so that z counts more.
    """
    regression, heap = regression_and_heap()
    covariance, ridge = regression_covariance(regression, heap)
    first = choose(torch.ones(len(heap)), covariance, ridge, 2)
    told = covariance[:, first.positions[0]]
    noise = LABEL_NOISE * ridge
    left = covariance - torch.outer(told, told) / (noise + told[first.positions[0]])
    score = left.square().sum(0) / (noise + left.diagonal())
    score[first.positions[0]] = -1
    assert int(first.positions[1]) == int(score.argmax())
    # The posterior of plain linear algebra, in the space of the features.
    centred = regression.spectrum.coordinates @ regression.spectrum.directions
    features = unit_features(heap, regression.model.power) - regression.spectrum.mean
    with_image = torch.cat([centred, features[first.positions[:1]] / LABEL_NOISE**0.5])
    precision = with_image.T @ with_image + ridge * torch.eye(centred.shape[1])
    expected = ridge * features @ torch.linalg.solve(precision, features.T)
    np.testing.assert_allclose(left, expected, atol=1e-9)


def test_ten_suggestions_are_not_ten_copies():
    regression, heap = regression_and_heap()
    copies = heap[:1].repeat(20, 1)
    covariance, ridge = regression_covariance(regression, torch.cat([copies, heap]))
    doubt = torch.full((len(heap) + 20,), 0.1, dtype=torch.float64)
    doubt[:20] = 1.0  # the copies are by far the most doubtful
    chosen = choose(doubt, covariance, ridge, 6).positions
    assert int((chosen < 20).sum()) < 6
    by_doubt = doubt.topk(6).indices
    assert int((by_doubt < 20).sum()) == 6


@settings(max_examples=30)
@given(st.integers(1, 12), st.integers(1, 20), st.integers(0, 10**6))
def test_every_image_is_chosen_at_most_once_and_scores_are_of_what_is_left(images, count, seed):
    noise = np.random.default_rng(seed)
    features = torch.from_numpy(noise.normal(size=(images, 4)))
    doubt = torch.from_numpy(noise.random(images))
    chosen = choose(doubt, features @ features.T, 0.3, count)
    assert len(set(chosen.positions.tolist())) == len(chosen.positions) == min(images, count)
    assert (chosen.scores >= -1e-9).all()


def test_doubt_is_largest_where_two_classes_are_equally_probable():
    probabilities = torch.tensor([[0.5, 0.5, 0.0], [0.4, 0.3, 0.3], [1.0, 0.0, 0.0]])
    assert doubt_of(probabilities).tolist() == pytest.approx([1.0, 0.9, 0.0])
    assert doubt_of(torch.ones(4, 1)).tolist() == [1.0] * 4


def test_of_a_large_heap_the_most_doubtful_are_compared():
    doubt = torch.linspace(0, 1, MOST_CANDIDATES + 10)
    assert most_doubtful(doubt).tolist() == list(range(10, MOST_CANDIDATES + 10))
    assert most_doubtful(doubt[:5]).tolist() == [0, 1, 2, 3, 4]


def test_features_of_any_network_are_conditioned_on_the_class_means():
    noise = torch.Generator().manual_seed(0)
    means = torch.randn(3, 8, generator=noise)
    features = torch.cat([means, torch.randn(2, 8, generator=noise)])
    covariance, _ = feature_covariance(features, means)
    variance = covariance.diagonal()
    assert variance[:3].max() < 0.2, "of a class mean nearly all is known"
    assert variance[3:].min() > 0.2
