"""Outcomes are those of the batches of tasks, in order, with queries from outside at the end."""

from dataclasses import dataclass

import numpy as np
import torch
from helpers import make_store

from samovar.data.dataset import Dataset
from samovar.evaluation.distributed import Processes
from samovar.evaluation.fitted_rivals import FittedRivals
from samovar.evaluation.outcomes import OUTSIDE
from samovar.evaluation.predictors import RIVALS, Predictor
from samovar.evaluation.rivals import TaskFeatures
from samovar.evaluation.runner import DrawnTasks, Runner, untempered
from samovar.prediction.predictive import Prediction, entropy_of
from samovar.settings.tasks import Protocol

PROTOCOL = Protocol(3, 2, 4, episodes=45, samples=2, split="train", outside=5)


@dataclass(frozen=True)
class Guess(DrawnTasks):
    """Tasks of a model that knows nothing, but answers the number of the task for a distance."""


class Guessing(Runner[Guess]):
    def __init__(self, dataset: Dataset) -> None:
        self.dataset = dataset
        self.processes = Processes(None, torch.device("cpu"))

    @property
    def norms(self):
        return set()

    def infer(self, episodes, numbers):
        return Guess(numbers, episodes, torch.tensor(episodes.query_labels))

    def predict_sampled(self, tasks, protocol):
        probabilities = torch.full((*tasks.labels.shape, protocol.way), 1 / protocol.way)
        return Prediction(probabilities, entropy_of(probabilities))

    def predict_at_mean(self, tasks):
        return self.predict_sampled(tasks, PROTOCOL)

    def distance(self, tasks):
        numbers = torch.tensor(list(tasks.numbers))
        return numbers[:, None].expand(tasks.labels.shape).float()

    def energy(self, tasks):
        return -self.distance(tasks)

    def task_features(self, episodes):
        """Images whose first pixel says nothing of their class."""
        support = self.dataset.gather(episodes.support).flatten(2)[..., :6]
        query = self.dataset.gather(episodes.query).flatten(2)[..., :6]
        way = episodes.classes.shape[1]
        return TaskFeatures.of(support, torch.tensor(episodes.support_labels), query, way)


def test_outcomes_come_in_the_order_of_the_tasks(tmp_path):
    dataset = Dataset(make_store(tmp_path, [9] * 6))
    seen = []
    outcomes = Guessing(dataset).outcomes(PROTOCOL, progress=lambda _, share: seen.append(share))
    assert set(outcomes) == {Predictor.PREDICTIVE, Predictor.MEAN_CLASSIFIER}
    predictive = outcomes[Predictor.PREDICTIVE]
    np.testing.assert_array_equal(predictive.distance[:, 0], np.arange(45))
    assert predictive.label.shape == (45, 3 * 4 + 5)
    assert (predictive.label[:, -5:] == OUTSIDE).all()
    np.testing.assert_array_equal(predictive.energy, -predictive.distance)
    assert seen[-1] == 1


def test_rivals_answer_the_same_queries(tmp_path):
    dataset = Dataset(make_store(tmp_path, [9] * 6))
    outcomes = Guessing(dataset).outcomes(PROTOCOL, rivals=FittedRivals({}, "none"))
    assert set(outcomes) == {Predictor.PREDICTIVE, Predictor.MEAN_CLASSIFIER, *RIVALS}
    for rival in RIVALS:
        np.testing.assert_array_equal(outcomes[rival].label, outcomes["predictive"].label)
        np.testing.assert_array_equal(outcomes[rival].classes, outcomes["predictive"].classes)
        assert outcomes[rival].mutual_information is None


def test_two_predictors_need_no_temperature():
    prediction = Prediction(torch.ones(1, 1, 1), torch.zeros(1, 1))
    assert list(untempered(prediction, prediction)) == ["predictive", "mean_classifier"]
