"""The predictive of a regression is its average over logits and temperatures, query by query."""

import numpy as np
import pytest
import torch
from helpers_photos import clouds

from samovar.models.closed_form import ClosedForm, Moments
from samovar.prediction.regression import (
    left_out_level,
    left_out_rejection_scores,
    predict_regression,
    predict_regression_at_mean,
    rejection_score,
)
from samovar.prediction.sampling_noise import PredictiveNoise

NOISE = PredictiveNoise(0, [0], quasi=True)


def fitted(classes: int = 4, each: int = 5):
    vectors, labels = clouds(classes=classes, each=each)
    with torch.no_grad():
        return ClosedForm().infer(torch.tensor(vectors), torch.tensor(labels), classes)


@torch.no_grad()
def predicted(regression, queries, samples: int = 128):
    return predict_regression(regression, regression.moments(queries), samples, NOISE)


@pytest.mark.parametrize(("classes", "each"), [(2, 5), (4, 5), (4, 1), (12, 3)])
def test_sampled_probabilities_are_near_those_of_the_approximation(classes, each):
    regression = fitted(classes, each)
    queries = torch.tensor(clouds(1, classes, 10)[0])
    sampled = predicted(regression, queries).probabilities[0].double()
    with torch.no_grad():
        approximate = regression.probabilities(queries)
    differences = (sampled - approximate).abs().amax(1)
    assert differences.mean() < 0.012
    assert differences.max() < 0.06, "MacKay's approximation is one, too"
    torch.testing.assert_close(sampled.sum(1), torch.ones(len(queries)).double())


def test_more_samples_change_little():
    regression = fitted()
    queries = torch.tensor(clouds(1)[0])
    few = predicted(regression, queries).probabilities
    many = predicted(regression, queries, 8192).probabilities
    assert (few - many).abs().max() < 0.02


def test_the_answer_to_a_query_does_not_depend_on_the_others():
    regression = fitted()
    queries = torch.tensor(clouds(1)[0])
    together = predicted(regression, queries)
    alone = predicted(regression, queries[3:4])
    torch.testing.assert_close(together.probabilities[:, 3], alone.probabilities[:, 0])
    torch.testing.assert_close(together.mutual_information[:, 3], alone.mutual_information[:, 0])


def test_uncertainty_adds_up_and_a_strange_query_has_more_of_it():
    regression = fitted()
    prediction = predicted(regression, torch.tensor(clouds(1)[0]))
    assert (prediction.entropy >= prediction.mutual_information).all()
    assert (prediction.mutual_information >= 0).all()
    strange = torch.tensor(clouds(1)[0].mean(0, keepdims=True))
    assert predicted(regression, strange).entropy > prediction.entropy.median()


def test_the_rejection_score_rises_with_the_variance_and_falls_with_the_largest_score():
    scores = torch.tensor([[0.5, -0.5], [0.5, -0.5], [0.1, -0.1]], dtype=torch.float64)
    variance = torch.tensor([0.2, 0.4, 0.2], dtype=torch.float64)
    first, vaguer, weaker = rejection_score(Moments(scores, variance)).tolist()
    assert first == pytest.approx(np.log(0.2) - 1)
    assert vaguer > first
    assert weaker > first
    nothing = Moments(torch.zeros(1, 1), torch.zeros(1))
    assert np.isfinite(rejection_score(nothing).item()), "a support image again, and one class"


def test_left_out_support_images_score_like_new_ones():
    """Also with a single class, where the centre would follow the image."""
    for classes in (1, 4):
        regression = fitted(classes, 6)
        queries = torch.tensor(clouds(1, classes, 40)[0])
        with torch.no_grad():
            left_out = left_out_rejection_scores(regression).median()
            new = rejection_score(regression.moments(queries)).median()
        assert abs(left_out - new) < 0.4


def test_only_images_whose_class_has_another_are_left_out():
    vectors, _ = clouds(classes=2, each=3)
    labels = torch.tensor([0, 0, 0, 1, 2, 2])
    with torch.no_grad():
        regression = ClosedForm().infer(torch.tensor(vectors), labels, 3)
        assert len(left_out_rejection_scores(regression)) == 5
        assert len(left_out_rejection_scores(fitted(3, 1))) == 0
        assert len(left_out_rejection_scores(fitted(1, 1))) == 0
        assert left_out_level(fitted(3, 1)) is None
        assert left_out_level(regression) >= left_out_rejection_scores(regression).median()


@torch.no_grad()
def test_at_the_mean_the_answers_are_the_same_and_surer():
    regression = fitted(4, 3)
    queries = torch.tensor(clouds(1, 4, 10)[0])
    at_mean = predict_regression_at_mean(regression, regression.moments(queries))
    sampled = predicted(regression, queries, 1024)
    assert at_mean.probabilities.shape == sampled.probabilities.shape
    assert torch.equal(at_mean.probabilities.argmax(-1), sampled.probabilities.argmax(-1))
    assert at_mean.entropy.mean() < sampled.entropy.mean()
    assert at_mean.mutual_information is None
