"""The map keeps what is alike together and marks what the others would not take."""

import numpy as np
import pytest
from helpers_photos import clouds, small_regression, vector_list

from samovar.classifier.fitted_regression import fit_regression
from samovar.service.class_map import draw_map


@pytest.fixture(scope="module")
def saved():
    return small_regression()


def test_points_of_a_class_lie_closer_than_those_of_two(saved):
    vectors, labels = clouds(classes=3, each=5)
    drawn = draw_map(fit_regression(saved, vector_list(vectors), labels.tolist()), 0.05)
    gaps = np.linalg.norm(drawn.points[:, None] - drawn.points[None], axis=-1)
    same = labels[:, None] == labels[None]
    assert gaps[same].mean() < 0.5 * gaps[~same].mean()
    longer = np.ptp(drawn.points, axis=0).argmax()
    assert drawn.points[:, longer].min() == pytest.approx(-1)
    assert drawn.points[:, longer].max() == pytest.approx(1)
    assert (drawn.points[0] >= 0).all()
    assert 0 < drawn.explained <= 1


def test_an_example_that_is_like_no_other_is_an_outlier(saved):
    vectors, labels = clouds(classes=2, each=6)
    strange = np.random.default_rng(5).exponential(4, vectors.shape[1]).astype(np.float32)
    everything = vector_list(np.vstack([vectors, strange]))
    fitted = fit_regression(saved, everything, [*labels.tolist(), 0])
    drawn = draw_map(fitted, 0.05)
    assert drawn.outliers[-1]
    assert drawn.outliers[:-1].mean() < 0.5
    assert not draw_map(fitted, None).outliers.any(), "without a threshold nothing is an outlier"


@pytest.mark.parametrize("count", [1, 2])
def test_very_few_examples_can_be_drawn(saved, count):
    vectors, _ = clouds(classes=1, each=count)
    drawn = draw_map(fit_regression(saved, vector_list(vectors), ["a"] * count), 0.05)
    assert drawn.points.shape == (count, 2)
    assert np.isfinite(drawn.points).all()
