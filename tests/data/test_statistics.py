"""Sums of classes give the mean and deviation of everything together."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from samovar.data.statistics import ChannelStatistics


@given(st.lists(st.integers(1, 5), min_size=1, max_size=4), st.integers(0, 10**6))
def test_classes_added_one_by_one_give_the_statistics_of_all_images(counts, seed):
    images = np.random.default_rng(seed).integers(0, 256, (sum(counts), 4, 3, 2), np.uint8)
    statistics = ChannelStatistics(channels=2)
    for array in np.split(images, np.cumsum(counts)[:-1]):
        statistics.add(array)
    np.testing.assert_allclose(statistics.mean, images.mean((0, 1, 2)))
    np.testing.assert_allclose(statistics.std, images.std((0, 1, 2)), atol=1e-9)


def test_a_constant_channel_has_no_deviation_in_spite_of_rounding():
    statistics = ChannelStatistics(channels=1)
    statistics.add(np.full((1000, 1), 0.1))
    assert 0 <= statistics.std[0] < 1e-8


def test_nothing_added_is_zero_and_not_an_error():
    statistics = ChannelStatistics(channels=3)
    assert statistics.mean.tolist() == statistics.std.tolist() == [0, 0, 0]
