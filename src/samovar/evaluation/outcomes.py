"""What a model answered to every query of many tasks: a few numbers for each, from which all figures are made."""

import dataclasses
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from samovar.prediction.predictive import Prediction

OUTSIDE = -1
"""The label of a query whose class is not in the task."""


@dataclass(frozen=True)
class Outcomes:
    """Arrays (tasks, queries). Queries from outside the task come last and have no likelihood and no Brier score (NaN).

    label: the true class in the task, or OUTSIDE; answer: the most probable class; top: its probability;
    log_likelihood: of the true class; brier: sum over classes of (probability - truth)^2; entropy, and mutual
    information where the model has one, in nats; distance to the nearest class mean, where it is known.
    """

    label: NDArray[np.int32]
    answer: NDArray[np.int32]
    top: NDArray[np.float32]
    log_likelihood: NDArray[np.float32]
    brier: NDArray[np.float32]
    entropy: NDArray[np.float32]
    mutual_information: NDArray[np.float32] | None
    distance: NDArray[np.float32] | None = None

    @classmethod
    def of(
        cls, prediction: Prediction, labels: Tensor, distance: Tensor | None = None
    ) -> "Outcomes":
        """From a prediction, labels (T, Q) and distances (T, Q)."""
        p, labels = (
            prediction.probabilities.cpu().double(),
            labels.cpu(),
        )  # not every device has double precision
        top, answer = p.max(-1)
        at_label = p.gather(-1, labels.clamp(min=0)[..., None]).squeeze(-1)
        log_likelihood = at_label.clamp(min=torch.finfo(torch.float32).tiny).log()
        brier = p.square().sum(-1) - 2 * at_label + 1
        outside = labels == OUTSIDE
        log_likelihood, brier = (
            each.masked_fill(outside, torch.nan) for each in (log_likelihood, brier)
        )
        information = prediction.mutual_information
        return cls(
            labels.int().cpu().numpy(),
            answer.int().cpu().numpy(),
            top.float().cpu().numpy(),
            log_likelihood.float().cpu().numpy(),
            brier.float().cpu().numpy(),
            prediction.entropy.float().cpu().numpy(),
            None if information is None else information.float().cpu().numpy(),
            None if distance is None else distance.float().cpu().numpy(),
        )

    @classmethod
    def joined(cls, parts: list["Outcomes"]) -> "Outcomes":
        """All tasks of several parts."""
        first, *others = parts
        return first.each(
            lambda name, array: np.concatenate([array, *(getattr(part, name) for part in others)])
        )

    def each(self, change: Callable[[str, NDArray[Any]], NDArray[Any]]) -> "Outcomes":
        """The same with every array changed; the function takes the array's name too."""
        arrays = {field.name: getattr(self, field.name) for field in dataclasses.fields(self)}
        changed = {name: change(name, array) for name, array in arrays.items() if array is not None}
        return dataclasses.replace(self, **changed)

    @property
    def inside(self) -> "Outcomes":
        """Without the queries from outside the task."""
        columns = self.label[0] != OUTSIDE
        return self.each(lambda _, array: array[:, columns])

    @property
    def right(self) -> NDArray[np.bool_]:
        """Whether the answer is right."""
        return self.answer == self.label
