"""Accuracy alone, which is all that training needs to validate and to test a model."""

from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from samovar.evaluation.metrics import NO_INTERVAL, Estimate, half_width, with_interval
from samovar.evaluation.runner import Runner
from samovar.settings.tasks import Protocol


@dataclass(frozen=True)
class Accuracy(Estimate):
    """Mean accuracy with the half-width of its 95 % interval, and the accuracy of each task."""

    tasks: NDArray[np.float64]

    @classmethod
    def of(cls, values: NDArray[np.float64]) -> "Accuracy":
        """Estimate the accuracy from that of each task."""
        return cls(float(values.mean()), half_width(values), values)

    def __str__(self) -> str:
        mean = f"{100 * self.mean:.2f}"
        if self.ci95 is None:
            return f"{mean} % ({NO_INTERVAL})"
        return f"{with_interval(mean, self.ci95, 100)} %"


def measure_accuracy(runner: Runner[Any], protocol: Protocol) -> Accuracy:
    """Measure the accuracy of the sampled predictive, and nothing else.

    It equals the accuracy of a whole evaluation under the same protocol.
    """
    counts = []  # correct predictions of each task; counts are exact on every device
    for tasks in runner.infer_tasks(protocol):
        prediction = runner.predict_sampled(tasks, protocol)
        # Queries from outside the task have a negative label, which is never predicted.
        correct = prediction.probabilities.argmax(-1) == tasks.labels
        counts.append(correct.sum(-1))
    correct_of_task = runner.processes.gathered(torch.cat(counts), protocol.episodes)
    return Accuracy.of(correct_of_task.cpu().numpy() / protocol.queries_in_all)
