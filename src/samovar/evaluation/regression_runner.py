"""Runs a regression on tasks of a data set of its encoder's vectors.

The sibling of `TaskRunner`: the same tasks, drawn from the same seed, so that the two kinds of
models can be compared task by task. A regression is computed on the CPU, in float64.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import torch
from lightning_fabric import Fabric
from torch import Tensor

from samovar.data.dataset import Dataset
from samovar.data.episodes import Episodes
from samovar.evaluation.distributed import Processes
from samovar.evaluation.fitted_rivals import energy_of
from samovar.evaluation.rivals import TaskFeatures
from samovar.evaluation.runner import DrawnTasks, Runner
from samovar.models.closed_form import ClosedForm, Moments, Regression, unit_features
from samovar.prediction.predictive import Prediction
from samovar.prediction.regression import (
    predict_regression,
    predict_regression_at_mean,
    rejection_score,
)
from samovar.prediction.sampling_noise import PredictiveNoise
from samovar.settings.tasks import Protocol


@dataclass(frozen=True)
class RegressedTasks(DrawnTasks):
    """A batch of a protocol's tasks with their regressions, and what these say of the queries."""

    regressions: list[Regression]
    moments: list[Moments]


class RegressionRunner(Runner[RegressedTasks]):
    """Runs a regression on tasks of vectors."""

    def __init__(
        self,
        model: ClosedForm,
        dataset: Dataset,
        device: torch.device,
        fabric: Fabric | None = None,
    ) -> None:
        self.model = model
        self.dataset = dataset
        self.processes = Processes(fabric, device)

    @property
    def norms(self) -> set[str]:
        """The modes of batch norm: a regression has none."""
        return set()

    @torch.no_grad()
    def infer(self, episodes: Episodes, numbers: range) -> RegressedTasks:
        """Infer p(w | D) of some tasks; `numbers` are theirs in the protocol."""
        way = episodes.classes.shape[1]
        support = self.dataset.gather(episodes.support)
        query = self.dataset.gather(episodes.query)
        support_labels = torch.tensor(episodes.support_labels)
        regressions = []
        moments = []
        for vectors, labels, queries in zip(support, support_labels, query, strict=True):
            regression = self.model.infer(vectors, labels, way)
            regressions.append(regression)
            moments.append(regression.moments(queries))
        labels = torch.tensor(episodes.query_labels)
        return RegressedTasks(numbers, episodes, labels, regressions, moments)

    def predict_sampled(self, tasks: RegressedTasks, protocol: Protocol) -> Prediction:
        """Return the average over the protocol's number of samples of logits and temperature."""
        predictions = []
        inferred = zip(tasks.numbers, tasks.regressions, tasks.moments, strict=True)
        for number, regression, moments in inferred:
            noise = PredictiveNoise(protocol.seed, [number], protocol.quasi)
            prediction = predict_regression(regression, moments, protocol.samples, noise)
            predictions.append(prediction)
        return _joined(predictions)

    def predict_at_mean(self, tasks: RegressedTasks) -> Prediction:
        """Return the prediction at the mean of the weights and of the log temperature."""
        predictions = []
        for regression, moments in zip(tasks.regressions, tasks.moments, strict=True):
            predictions.append(predict_regression_at_mean(regression, moments))
        return _joined(predictions)

    def distance(self, tasks: RegressedTasks) -> Tensor:
        """Return the rejection score of each query, (T, Q)."""
        return torch.stack([rejection_score(moments) for moments in tasks.moments])

    @torch.no_grad()
    def energy(self, tasks: RegressedTasks) -> Tensor:
        """Return the energy at the mean of the logits for each query, (T, Q)."""
        energies = []
        for regression, moments in zip(tasks.regressions, tasks.moments, strict=True):
            energies.append(energy_of(regression.gaussian(moments).mean))
        return torch.stack(energies)

    def task_features(self, episodes: Episodes) -> TaskFeatures:
        """Return the encoder's vectors as the regression sees them: evened out, of length 1."""
        return TaskFeatures.of(
            unit_features(self.dataset.gather(episodes.support), self.model.power),
            torch.tensor(episodes.support_labels),
            unit_features(self.dataset.gather(episodes.query), self.model.power),
            episodes.classes.shape[1],
        )


def _joined(predictions: Sequence[Prediction]) -> Prediction:
    """Join the predictions of single tasks, (1, Q, N) each."""
    spreads = []
    information = []
    for prediction in predictions:
        if prediction.spread is not None and prediction.mutual_information is not None:
            spreads.append(prediction.spread)
            information.append(prediction.mutual_information)
    return Prediction(
        torch.cat([prediction.probabilities for prediction in predictions]),
        torch.cat([prediction.entropy for prediction in predictions]),
        torch.cat(spreads) if spreads else None,
        torch.cat(information) if information else None,
    )
