"""Rejection has the stated rate, by distances to the nearest class."""

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch.nn import functional

from samovar.errors import SettingsError
from samovar.prediction.rejection import (
    COSINE_DISTANCE,
    RATES,
    SCORES,
    Rejection,
    RejectionScore,
    ShapeThresholds,
    register_rejection_score,
    threshold_factor,
)


def test_rejection_has_the_stated_rate_on_the_scores_it_was_measured_on():
    distances = np.sort(np.random.default_rng(0).random(5000))
    table = Rejection(
        "test",
        (
            ShapeThresholds(5, 1, tuple(np.quantile(distances, 1 - np.array(RATES)))),
            ShapeThresholds(20, 5, (1.0,) * len(RATES)),
        ),
    )
    for rate in (0.01, 0.05, 0.2, 0.5):
        threshold, cell = table.threshold(6, np.array([1, 1, 2]), rate)
        assert (cell.way, cell.shot) == (5, 1), "the nearest shape"
        assert (distances > threshold).mean() == pytest.approx(rate, abs=0.002)
    assert table.threshold(30, np.array([4]), 0.05)[1].way == 20
    for rate in (0.0, 0.7, -1.0):
        with pytest.raises(SettingsError):
            table.threshold(5, np.array([1]), rate)


@given(seed=st.integers(0, 100), scale=st.floats(0.01, 100))
def test_distance_is_to_the_nearest_class_and_of_directions_only(seed, scale):
    noise = torch.Generator().manual_seed(seed)
    query, means = torch.randn(2, 3, 4, generator=noise), torch.randn(2, 5, 4, generator=noise)
    distance = COSINE_DISTANCE(query, means)
    cosines = functional.cosine_similarity(query[:, :, None], means[:, None], dim=-1)
    torch.testing.assert_close(distance, 1 - cosines.max(-1).values, rtol=1e-4, atol=1e-5)
    torch.testing.assert_close(
        COSINE_DISTANCE(scale * query, means / scale), distance, rtol=1e-4, atol=1e-5
    )
    same, opposite = COSINE_DISTANCE(means, means), COSINE_DISTANCE(-means[:, :1], means[:, :1])
    assert (same >= 0).all()
    assert (same < 1e-6).all()
    assert ((opposite > 2 - 1e-6) & (opposite <= 2)).all()
    more = torch.cat([means, torch.randn(2, 1, 4, generator=noise)], 1)
    assert (COSINE_DISTANCE(query, more) <= distance + 1e-6).all(), (
        "with more classes nothing is farther"
    )
    with torch.autocast("cpu", torch.bfloat16):
        assert torch.equal(COSINE_DISTANCE(query, means), distance)


@given(ratio=st.floats(0, 100))
def test_thresholds_follow_the_tasks_own_images_half_way(ratio):
    table = Rejection(
        "test",
        (ShapeThresholds(5, 4, (0.2,) * len(RATES)), ShapeThresholds(5, 20, (5.0,) * len(RATES))),
    )
    spread = table.spread_ratio(5, 4.0, 0.2 * ratio * np.array([1.0, 0.5, 1.0, 2.0]))
    assert spread == pytest.approx(ratio)
    assert 0.5 <= threshold_factor(spread) <= 2
    if 0.25 < ratio < 4:
        assert threshold_factor(spread) ** 2 == pytest.approx(ratio)
    assert threshold_factor(None) == 1


class Length(RejectionScore):
    """A score of a user's own: how short a query is."""

    name = "length"

    def by_class(self, features, class_means):
        return features.norm(dim=-1, keepdim=True).expand(*features.shape[:-1], len(class_means))

    def overall(self, by_class):
        return -by_class.amax(-1)


def test_a_score_is_added_by_one_call_and_survives_its_file():
    length = Length()
    table = Rejection("test", (ShapeThresholds(5, 1, (0.2,) * len(RATES)),), length)
    stored = table.to_dict()
    assert Rejection.from_dict(stored) is None, "thresholds on an unknown score say nothing"
    register_rejection_score(length)
    try:
        assert Rejection.from_dict(stored) == table
        with pytest.raises(SettingsError, match="already a rejection score"):
            register_rejection_score(length)
    finally:
        del SCORES["length"]
    assert length(torch.tensor([[3.0, 4.0]]), torch.ones(2, 2)).tolist() == [-5.0]
