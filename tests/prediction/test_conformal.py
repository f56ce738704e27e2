import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from mapie.classification import SplitConformalClassifier
from sklearn.base import BaseEstimator, ClassifierMixin

from samovar.errors import SettingsError
from samovar.prediction.conformal import (
    check_confidence,
    check_level,
    highest_confidence,
    listed_sets,
    members,
    nonconformity,
    p_values,
    p_values_by_class,
    scores_needed,
)


class Given(ClassifierMixin, BaseEstimator):
    """A classifier whose inputs are its probabilities."""

    def __init__(self, way: int = 3):
        self.way = way
        self.classes_ = np.arange(way)

    def fit(self, *_):
        return self

    def predict_proba(self, X):  # noqa: N803
        return X

    def predict(self, X):  # noqa: N803
        return X.argmax(1)


def answers(seed: int, images: int, way: int):
    noise = np.random.default_rng(seed)
    probabilities = noise.dirichlet(np.full(way, 0.5), images)
    labels = np.array([noise.choice(way, p=row) for row in probabilities])
    return probabilities, labels


@pytest.mark.parametrize("confidence", [0.8, 0.9, 0.95])
@pytest.mark.parametrize(("seed", "images", "way"), [(0, 21, 3), (1, 40, 5), (2, 99, 2)])
def test_sets_by_held_out_images_are_those_of_mapie(confidence, seed, images, way):
    held_out, labels = answers(seed, images, way)
    new, _ = answers(seed + 10, 60, way)
    mapie = SplitConformalClassifier(
        Given(way), confidence_level=confidence, conformity_score="lac", prefit=True
    )
    mapie.conformalize(held_out, labels)
    theirs = mapie.predict_set(new)[1][:, :, 0]
    known = nonconformity(held_out)[np.arange(images), labels]
    assert (members(p_values(nonconformity(new), known), confidence) == theirs).all()


def test_sure_answers_are_ranked_by_their_doubt_and_not_by_the_rounding_of_their_probability():
    # In float32, probabilities this close to 1 are rounded to 1 or to a number just below it,
    # whichever way the average was computed.
    sure = np.array([[1.0, 2e-9], [1 - 2**-24, 1e-9], [1.0, 3e-9]], np.float32).astype(np.float64)
    scores = nonconformity(sure)[:, 0]
    np.testing.assert_allclose(scores, [2e-9, 1e-9, 3e-9], rtol=1e-6)
    assert (p_values(scores[[0], None], scores[[1, 2]]) == [[2 / 3]]).all()


@given(st.integers(1, 60), st.floats(0.05, 0.98))
def test_the_smallest_number_of_scores_that_can_leave_a_label_out(scores, confidence):
    """With fewer scores, even the worst label would be in every set."""
    worst = p_values(np.array([[1.0]]), np.zeros(scores))
    assert bool(members(worst, confidence)[0, 0]) == (scores < scores_needed(confidence))
    assert scores_needed(highest_confidence(scores)) == scores


@given(st.integers(9, 40), st.integers(0, 10_000))
def test_the_rank_of_an_exchangeable_score_is_uniform(count, seed):
    """Left out in turn, at least 90 % of exchangeable scores have a p-value above 0.1."""
    scores = np.random.default_rng(seed).integers(0, 8, count + 1).astype(float)  # with ties
    covered = []
    for position in range(count + 1):
        others = np.delete(scores, position)
        covered.append(members(p_values(scores[[position], None], others), 0.9)[0, 0])
    assert np.mean(covered) >= 0.9 - 1e-9


def test_sets_grow_with_the_confidence_and_may_be_empty():
    known = np.linspace(0.1, 0.5, 19)
    values = p_values(np.array([[0.05, 0.3, 0.95]]), known)
    sizes = [int(members(values, confidence).sum()) for confidence in (0.3, 0.8, 0.95)]
    assert sizes == [1, 2, 2]
    assert not members(p_values(np.array([[0.9, 0.8]]), known), 0.9).any()


def test_each_class_is_compared_with_its_own_scores():
    known = np.array([0.1, 0.2, 0.3, 0.7, 0.8, 0.9])
    numbers = np.array([0, 0, 0, 1, 1, 1])
    values = p_values_by_class(np.array([[0.25, 0.25]]), known, numbers)
    assert values.tolist() == [[0.5, 1.0]]


@pytest.mark.parametrize(("confidence", "needed"), [(0.9, 9), (0.95, 19), (0.99, 99)])
def test_a_level_without_enough_scores_is_refused_with_the_one_that_can_be_had(confidence, needed):
    check_level(confidence, needed, "images", "")
    with pytest.raises(SettingsError, match=rf"need {needed} images, but there are 4.*most 80 %"):
        check_level(confidence, 4, "images", "Ask for less.")
    with pytest.raises(SettingsError, match="no level at all"):
        check_level(confidence, 0, "images", "")


def test_the_level_that_is_named_can_be_asked_for():
    for scores in range(1, 200):
        with pytest.raises(SettingsError) as refused:
            check_level(0.999, scores, "images", "")
        named = float(str(refused.value).split("at most ")[1].split(" %")[0]) / 100
        check_level(named, scores, "images", "")


@pytest.mark.parametrize("confidence", [0, 1, -0.1, 90, "0.9", True, None, float("nan")])
def test_what_is_no_confidence_is_refused(confidence):
    with pytest.raises(SettingsError, match="between 0 and 1"):
        check_confidence(confidence)


def test_sets_list_the_most_probable_first():
    chosen = np.array([[True, True, False], [False, False, False]])
    probabilities = np.array([[0.2, 0.5, 0.3], [0.3, 0.3, 0.4]])
    assert listed_sets(chosen, probabilities, ["a", "b", "c"]) == [["b", "a"], []]
