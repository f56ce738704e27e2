"""The image to label next is one that the classifiers disagree about, and no twin of another."""

import numpy as np
import pytest
from helpers_photos import clouds, small_regression, vector_list
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from samovar.classifier.answer import AnswerParameters
from samovar.classifier.fitted_regression import fit_regression
from samovar.service.next_images import diverse, suggest


def test_an_image_between_two_classes_comes_before_typical_ones():
    vectors, labels = clouds(classes=2, each=4)
    fitted = fit_regression(small_regression(), vector_list(vectors), labels.tolist())
    first, second = vectors[labels == 0], vectors[labels == 1]
    between = (first[0] + second[0]) / 2
    heap = vector_list(np.stack([first[1], between, second[1]]))
    assert suggest(fitted, heap, 1, AnswerParameters()) == [1]


def test_copies_are_not_suggested_one_after_the_other():
    vectors, labels = clouds(classes=2, each=4)
    fitted = fit_regression(small_regression(), vector_list(vectors), labels.tolist())
    between = (vectors[0] + vectors[-1]) / 2
    other = (vectors[1] + vectors[-2]) / 2
    heap = vector_list(np.stack([between, between, between, other]))
    assert 3 in suggest(fitted, heap, 2, AnswerParameters())


@given(arrays(np.float64, 6, elements=st.floats(0, 1)), st.integers(1, 10))
def test_every_choice_is_another_image(information, count):
    directions = np.eye(6)
    chosen = diverse(information, directions, count)
    assert len(chosen) == len(set(chosen)) == min(count, 6)
    assert information[chosen[0]] == pytest.approx(information.max(), abs=1e-8)
