"""The picture of classes shows each mistake in its place, whatever the classes are called."""

import numpy as np
import pytest

from samovar.evaluation.per_class import ClassMetrics, ClassRanking, HardClass, Mistake
from samovar.reporting.figures.classes import _columns, _shares, classes_figure

HARDEST = [
    HardClass("ant", 10, 0.1, [Mistake("bee", 0.5), Mistake("cat", 0.2)]),
    HardClass("bee", 10, 0.4, [Mistake("ant", 0.3), Mistake("cat", 0.1)]),
    HardClass("dog", 10, 0.9, []),
]


def test_columns_are_the_frequent_mistakes_and_shares_are_in_their_cells():
    columns = _columns(HARDEST)
    assert columns == ["bee", "cat", "ant"]
    expected = [[50, 20, np.nan], [np.nan, 10, 30], [np.nan] * 3]
    np.testing.assert_allclose(_shares(HARDEST, columns), expected)


@pytest.mark.parametrize("hardest", [HARDEST, HARDEST[2:]])
def test_a_picture_is_made_with_and_without_mistakes(hardest):
    easiest = [ClassMetrics("$\\frac{1$", 10, 1.0), ClassMetrics("a\nb" * 50, 10, 1.0)]
    assert classes_figure(ClassRanking(hardest, easiest)).startswith(b"\x89PNG")
