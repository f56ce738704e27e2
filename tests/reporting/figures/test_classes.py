"""The picture of classes shows each mistake in its place, whatever the classes are called."""

import numpy as np
import pytest
from helpers_images import has_color

from samovar.evaluation.per_class import ClassMetrics, ClassRanking, HardClass, Mistake
from samovar.reporting.figures.classes import _columns, _ranked, _shares, classes_figure
from samovar.reporting.figures.style import GREEN, VERMILION

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
    picture = classes_figure(ClassRanking(hardest, easiest))
    assert has_color(picture, GREEN), "the bars of the easiest"
    assert has_color(picture, VERMILION), "the bars of the hardest"


def test_no_hard_class_is_left_without_its_most_frequent_mistake():
    hardest = []
    for number in range(10):
        hardest.append(HardClass(f"hard {number}", 10, 0.1, [Mistake(f"taken {number}", 0.9)]))
    shares = _shares(hardest, _columns(hardest))
    np.testing.assert_allclose(np.nanmax(shares, axis=1), 90)


def test_few_classes_are_listed_once_from_the_easiest_to_the_hardest():
    """With fewer than twice as many classes as a list has, the lists overlap."""
    ranked = [ClassMetrics(f"class {number}", 10, 1 - number / 12) for number in range(12)]
    hardest = [HardClass(row.name, row.queries, row.accuracy, []) for row in ranked[:1:-1]]
    shown = _ranked(ClassRanking(hardest, ranked[:10]))
    assert [row.name for row in shown] == [row.name for row in ranked]
    picture = classes_figure(ClassRanking(hardest, ranked[:10]))
    assert has_color(picture, GREEN)
    assert has_color(picture, VERMILION)
