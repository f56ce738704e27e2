"""What runs a model on the tasks of a data set, whatever the kind of the model.

Tasks are drawn, inferred and answered in batches, shared between processes where there are several,
and the outcomes of all queries come together in the order of the tasks.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Generic, TypeVar

import numpy as np
from torch import Tensor

from samovar.core.progress import Progress, silent
from samovar.data.dataset import Dataset
from samovar.data.episodes import Episodes, EpisodeSampler, draw_outside
from samovar.evaluation.distributed import Processes
from samovar.evaluation.fitted_rivals import FittedRivals
from samovar.evaluation.outcomes import OUTSIDE, Outcomes
from samovar.evaluation.predictors import Predictor
from samovar.evaluation.rivals import TaskFeatures
from samovar.prediction.predictive import Prediction
from samovar.settings.tasks import Protocol

Predictors = Callable[[Prediction, Prediction], dict[str, Prediction]]
"""From the sampled prediction and the one at the mean to all that are wanted, by name."""


def untempered(sampled: Prediction, at_mean: Prediction) -> dict[str, Prediction]:
    """Name the predictions of the two predictors that need no temperature."""
    return {Predictor.PREDICTIVE: sampled, Predictor.MEAN_CLASSIFIER: at_mean}


@dataclass(frozen=True)
class DrawnTasks:
    """A batch of a protocol's tasks.

    numbers: of the tasks in the protocol; labels: of the queries, (T, Q).
    """

    numbers: range
    episodes: Episodes
    labels: Tensor


Tasks = TypeVar("Tasks", bound=DrawnTasks)


class Runner(ABC, Generic[Tasks]):
    """Runs a model on tasks of a data set."""

    dataset: Dataset
    processes: Processes

    @property
    @abstractmethod
    def norms(self) -> set[str]:
        """The modes of the model's batch norms; empty if it has none."""

    @abstractmethod
    def infer(self, episodes: Episodes, numbers: range) -> Tasks:
        """Infer the classifiers of some tasks; `numbers` are theirs in the protocol."""

    @abstractmethod
    def predict_sampled(self, tasks: Tasks, protocol: Protocol) -> Prediction:
        """Return the average over the protocol's number of sampled classifiers."""

    @abstractmethod
    def predict_at_mean(self, tasks: Tasks) -> Prediction:
        """Return the prediction of the classifier at the mean."""

    def predict_calibrated(self, tasks: Tasks, protocol: Protocol) -> Prediction | None:
        """Return the prediction by the model's own calibration; None where it has none."""
        del tasks, protocol
        return None

    @abstractmethod
    def distance(self, tasks: Tasks) -> Tensor | None:
        """Return how little each query belongs to its task, (T, Q); None where it is not known."""

    @abstractmethod
    def energy(self, tasks: Tasks) -> Tensor:
        """Return the energy of the classifier at the mean for each query, (T, Q)."""

    @abstractmethod
    def task_features(self, episodes: Episodes) -> TaskFeatures:
        """Return what rivals of the model see of tasks."""

    def draw_tasks(self, protocol: Protocol) -> Iterator[tuple[range, Episodes]]:
        """Draw the protocol's tasks, a batch at a time; of several processes, this one's share."""
        sampler = EpisodeSampler(self.dataset, protocol.tasks, protocol.seed)
        self.processes.check_tasks(protocol.episodes)
        for numbers in self.processes.share_of_tasks(protocol.episodes):
            yield numbers, self._draw(sampler, protocol, numbers)

    def infer_tasks(self, protocol: Protocol, progress: Progress = silent) -> Iterator[Tasks]:
        """Infer the protocol's tasks, a batch at a time; of several processes, this one's share."""
        for numbers, episodes in self.draw_tasks(protocol):
            yield self.infer(episodes, numbers)
            progress("tasks", numbers.stop / protocol.episodes)

    def _draw(self, sampler: EpisodeSampler, protocol: Protocol, numbers: range) -> Episodes:
        """Draw tasks, with queries from outside at the end where they are wanted."""
        episodes = sampler.draw(numbers.start, len(numbers))
        if not protocol.outside:
            return episodes
        outside = draw_outside(
            self.dataset, episodes, numbers.start, protocol.outside, protocol.seed
        )
        return Episodes(
            episodes.classes,
            episodes.support,
            episodes.support_labels,
            np.concatenate([episodes.query, outside], 1),
            np.concatenate([episodes.query_labels, np.full(outside.shape, OUTSIDE)], 1),
        )

    def outcomes(
        self,
        protocol: Protocol,
        predictors: Predictors = untempered,
        progress: Progress = silent,
        rivals: FittedRivals | None = None,
    ) -> dict[str, Outcomes]:
        """Return the outcomes of all queries of the protocol's tasks, for each predictor."""
        batches: dict[str, list[Outcomes]] = {}
        for tasks in self.infer_tasks(protocol, progress):
            classes = tasks.episodes.classes
            distance = self.distance(tasks)
            energy = self.energy(tasks)
            sampled = self.predict_sampled(tasks, protocol)
            predictions = predictors(sampled, self.predict_at_mean(tasks))
            calibrated = self.predict_calibrated(tasks, protocol)
            if calibrated is not None:
                predictions[Predictor.CALIBRATED] = calibrated
            for name, prediction in predictions.items():
                outcomes = Outcomes.of(prediction, tasks.labels, distance, classes, energy)
                batches.setdefault(name, []).append(outcomes)
            if rivals is not None:
                features = self.task_features(tasks.episodes)
                answers = rivals.outcomes(features, tasks.labels, classes)
                for rival, outcomes in answers.items():
                    batches.setdefault(rival, []).append(outcomes)
        gathered = {}
        for name, outcomes_of_batches in batches.items():
            gathered[name] = Outcomes.joined(outcomes_of_batches).each(
                lambda _, array: self.processes.gathered_array(array, protocol.episodes)
            )
        return gathered
