"""`suggest` of both kinds of fitted model, in Python."""

import numpy as np
import pytest
from helpers_images import glyph
from helpers_photos import clouds, small_regression

import samovar
from samovar.errors import SettingsError


@pytest.fixture(scope="module")
def classifier() -> samovar.FewShotClassifier:
    vectors, labels = clouds()
    return samovar.FewShotClassifier(small_regression()).fit(vectors, labels)


def test_positions_scores_and_information_belong_together(classifier):
    heap, _ = clouds(seed=3)
    found = classifier.suggest(heap, 5)
    assert len(found.positions) == len(set(found.positions.tolist())) == 5
    assert found.scores.shape == (5,)
    information = classifier.uncertainty(heap).mutual_information
    np.testing.assert_allclose(found.mutual_information, information[found.positions])
    assert len(classifier.suggest(heap, 10**6).positions) == len(heap)


def test_an_image_that_is_known_already_is_suggested_last(classifier):
    known, _ = clouds()
    new, _ = clouds(seed=3)
    heap = np.concatenate([known[:1], new])
    assert 0 not in classifier.suggest(heap, 5).positions


def test_copies_in_the_heap_are_not_suggested_twice_before_others(classifier):
    new, _ = clouds(seed=3)
    first = classifier.suggest(new, 1).positions[0]
    heap = np.concatenate([new, new[first : first + 1].repeat(30, 0)])
    best = classifier.suggest(heap, 5).positions
    same = [position for position in best if position == first or position >= len(new)]
    assert len(same) < 5


def test_small_models_suggest_as_well():
    images = [glyph(seed, variant) for seed in (100, 101) for variant in range(4)]
    classifier = samovar.FewShotClassifier("glyphs").fit(images[::2], ["a", "a", "b", "b"])
    found = classifier.suggest(images, 3)
    assert len(found.positions) == 3


def test_nothing_and_nonsense(classifier):
    assert len(classifier.suggest(np.zeros((0, 48), np.float32)).positions) == 0
    with pytest.raises(SettingsError, match="at least 1"):
        classifier.suggest(clouds()[0], 0)
