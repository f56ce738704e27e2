"""The temperatures of an evaluation, fitted on tasks of the validation classes."""

from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor

from samovar.evaluation.distributed import Processes
from samovar.evaluation.predictors import Predictor
from samovar.evaluation.runner import Runner, untempered
from samovar.prediction.predictive import Prediction
from samovar.prediction.temperature import fit_temperature, log_probabilities, tempered
from samovar.settings.tasks import Protocol


@dataclass(frozen=True)
class Temperatures:
    """The fitted temperatures, and a note on what they were fitted on or why there are none.

    values: by the predictor to which the temperature is applied, such as the predictive.
    """

    values: dict[Predictor, float]
    note: str

    def predictions(self, sampled: Prediction, at_mean: Prediction) -> dict[str, Prediction]:
        """Return the predictions of all predictors, first those without a temperature."""
        predictions = untempered(sampled, at_mean)
        for predictor, temperature in self.values.items():
            predictions[predictor.tempered] = tempered(predictions[predictor], temperature)
        return predictions

    def of(self, predictor: Predictor) -> float | None:
        """Return the temperature that a predictor applies; None for those that apply none."""
        for base, temperature in self.values.items():
            if predictor == base.tempered:
                return temperature
        return None


@torch.no_grad()
def fit_temperatures(runner: Runner[Any], protocol: Protocol) -> Temperatures:
    """Fit a temperature for each untempered predictor on the tasks of a protocol."""
    log_predictions: dict[Predictor, list[Tensor]] = {
        Predictor.PREDICTIVE: [],
        Predictor.MEAN_CLASSIFIER: [],
    }
    labels = []
    # A temperature divides logits; the log of the averaged probabilities serves as the logits.
    for tasks in runner.infer_tasks(protocol):
        sampled = runner.predict_sampled(tasks, protocol)
        at_mean = runner.predict_at_mean(tasks)
        log_predictions[Predictor.PREDICTIVE].append(log_probabilities(sampled))
        log_predictions[Predictor.MEAN_CLASSIFIER].append(log_probabilities(at_mean))
        labels.append(tasks.labels)
    values = fit_each(log_predictions, labels, runner.processes, protocol.episodes)
    return Temperatures(values, fitted_on(runner, protocol))


def fit_each(
    logits: dict[Predictor, list[Tensor]], labels: list[Tensor], processes: Processes, tasks: int
) -> dict[Predictor, float]:
    """Fit a temperature for each predictor to its logits (T, Q, N), given batch by batch."""
    # With several processes each has seen a share of the tasks; all fit to the whole.
    truth = processes.gathered(torch.cat(labels), tasks).flatten()
    temperatures = {}
    for predictor, batches in logits.items():
        whole = processes.gathered(torch.cat(batches), tasks)
        temperatures[predictor] = fit_temperature(whole.flatten(0, 1), truth)
    return temperatures


def fitted_on(runner: Runner[Any], protocol: Protocol) -> str:
    """Say what temperatures were fitted on."""
    return f"fitted on {protocol.episodes} tasks of {runner.dataset.description}"
