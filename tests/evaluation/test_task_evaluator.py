"""Both kinds of models are measured on the very same tasks."""

import numpy as np
import pytest
from helpers import features_model
from helpers_evaluation import vector_dataset
from helpers_photos import LENGTH, small_regression

from samovar.errors import DataError, SettingsError
from samovar.evaluation.evaluator import evaluator_for
from samovar.evaluation.predictors import Predictor
from samovar.settings.tasks import Protocol

PROTOCOL = Protocol(3, 2, 4, episodes=25, samples=16)


@pytest.fixture
def evaluators(tmp_path):
    dataset = vector_dataset(tmp_path)
    return [evaluator_for(saved, dataset) for saved in (small_regression(), features_model(LENGTH))]


def test_tasks_are_the_same_for_both_kinds(evaluators):
    evaluations = [evaluator.evaluate(PROTOCOL) for evaluator in evaluators]
    for evaluation in evaluations:
        assert evaluation.tasks[Predictor.PREDICTIVE].accuracy.shape == (25,)
        assert evaluation.results.temperature_note.startswith("fitted on 25 tasks")
    drawn = []
    for evaluator in evaluators:
        tasks = next(evaluator.runner(PROTOCOL).infer_tasks(PROTOCOL))
        drawn.append((tasks.episodes.support, tasks.episodes.query))
    np.testing.assert_array_equal(drawn[0][0], drawn[1][0])
    np.testing.assert_array_equal(drawn[0][1], drawn[1][1])


def test_impossible_protocols_are_refused_before_any_work(evaluators):
    for evaluator in evaluators:
        with pytest.raises(DataError, match="too few classes"):
            evaluator.check(Protocol(9))
        with pytest.raises(DataError, match="no class outside"):
            evaluator.check(Protocol(4, 1, 1, outside=2))
    with pytest.raises(SettingsError, match="episode norm"):
        evaluators[1].check(Protocol(3, 1, 1, outside=2, norm="episode"))
