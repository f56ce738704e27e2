"""Methods are compared over training seeds as scipy does it, and only where seeds differ."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from samovar.evaluation.seeds import SeedMeans, compare_seeds

ACCURACIES = st.lists(st.floats(0.1, 0.9), min_size=2, max_size=6, unique_by=lambda x: round(x, 3))


@given(ACCURACIES, ACCURACIES)
@settings(max_examples=40)
def test_the_interval_is_that_of_welchs_test(first, second):
    difference = compare_seeds(first, second).difference
    test = stats.ttest_ind(first, second, equal_var=False)
    interval = test.confidence_interval(0.95)
    assert difference.mean - difference.ci95 == pytest.approx(interval.low)
    assert difference.mean + difference.ci95 == pytest.approx(interval.high)
    assert difference.degrees_of_freedom == pytest.approx(test.df)


def test_means_and_deviations_by_hand():
    compared = compare_seeds([0.6, 0.8], [0.5])
    assert compared.first.mean == pytest.approx(0.7)
    assert compared.first.std == pytest.approx(np.sqrt(0.02))
    assert compared.second.std is None
    assert compared.difference is None, "one seed has no spread"


def test_seeds_that_do_not_differ_have_no_interval():
    assert compare_seeds([0.5, 0.5], [0.6, 0.6]).difference is None


@given(ACCURACIES)
@settings(max_examples=40)
def test_the_interval_over_the_seeds_of_one_method_is_students(means):
    test = stats.ttest_1samp(means, 0)
    seeds = SeedMeans.of(means)
    assert seeds.ci95 is not None
    assert seeds.mean + seeds.ci95 == pytest.approx(test.confidence_interval(0.95).high)
    assert SeedMeans.of(means[:1]).ci95 is None
