"""A regression answers the tasks of a protocol one by one, as it answers a user's."""

import numpy as np
import pytest
import torch
from helpers_evaluation import vector_dataset
from helpers_photos import small_regression

from samovar.classifier.answer import AnswerParameters
from samovar.classifier.fitted_regression import fit_regression
from samovar.data.episodes import EpisodeSampler
from samovar.evaluation.predictors import Predictor
from samovar.evaluation.regression_runner import RegressionRunner
from samovar.settings.tasks import Protocol

PROTOCOL = Protocol(3, 2, 4, episodes=25, samples=32, quasi=True)


@pytest.fixture(scope="module")
def dataset(tmp_path_factory):
    return vector_dataset(tmp_path_factory.mktemp("vectors"))


@pytest.fixture
def runner(dataset):
    return RegressionRunner(small_regression().model, dataset, torch.device("cpu"))


def test_answers_and_distances_are_those_of_a_fitted_task(runner, dataset):
    """The first task has the number 0, and so has the noise of a user's task."""
    tasks = next(runner.infer_tasks(PROTOCOL))
    sampled = runner.predict_sampled(tasks, PROTOCOL)
    episodes = EpisodeSampler(dataset, PROTOCOL.tasks, PROTOCOL.seed).draw(0, 1)
    support = list(dataset.gather(episodes.support)[0])
    query = list(dataset.gather(episodes.query)[0])
    fitted = fit_regression(small_regression(), support, episodes.support_labels[0].tolist())
    answer = fitted.answer(query, AnswerParameters(samples=32, seed=0))
    np.testing.assert_allclose(sampled.probabilities[0], answer.probabilities, atol=1e-6)
    np.testing.assert_allclose(runner.distance(tasks)[0], answer.distance)


def test_outcomes_are_good_on_vectors_that_tell_classes_apart(runner):
    outcomes = runner.outcomes(PROTOCOL)
    for predictor in (Predictor.PREDICTIVE, Predictor.MEAN_CLASSIFIER):
        assert outcomes[predictor].label.shape == (25, 12)
        assert outcomes[predictor].correct.mean() > 0.9
    assert outcomes[Predictor.PREDICTIVE].mutual_information is not None
    assert outcomes[Predictor.MEAN_CLASSIFIER].mutual_information is None
    assert runner.norms == set()


def test_rivals_see_the_vectors_of_the_regression(runner, dataset):
    episodes = EpisodeSampler(dataset, PROTOCOL.tasks, PROTOCOL.seed).draw(0, 2)
    features = runner.task_features(episodes)
    assert features.query.shape == (2, 12, 48)
    torch.testing.assert_close(features.support.norm(dim=-1), torch.ones(2, 6).double())
    tasks = next(runner.infer_tasks(PROTOCOL))
    assert runner.energy(tasks).shape == (20, 12)
