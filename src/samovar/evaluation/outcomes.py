"""What a model predicted for every query of many tasks, beside the truth.

Only a few numbers of each query are kept instead of all its probabilities, so that thousands of
tasks fit into memory. Every metric of an evaluation is computed from them.
"""

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
    """The predictions of one predictor beside the truth: arrays (tasks, queries), except `classes`.

    label: the true class in the task, or OUTSIDE; predicted: the most probable class; top: its
    probability; log_likelihood: of the true class; brier: sum over classes of (probability -
    truth)^2; entropy, and mutual information where the model has one, in nats; distance: to the
    nearest class mean, where it is known; energy: minus the log of the sum of exp(logit) over the
    classes, where there are logits; classes: (tasks, N), the position in the data set of each class
    of the task.

    Queries from outside the task come last and have no likelihood and no Brier score (NaN).
    """

    label: NDArray[np.int32]
    predicted: NDArray[np.int32]
    top: NDArray[np.float32]
    log_likelihood: NDArray[np.float32]
    brier: NDArray[np.float32]
    entropy: NDArray[np.float32]
    mutual_information: NDArray[np.float32] | None
    distance: NDArray[np.float32] | None = None
    energy: NDArray[np.float32] | None = None
    classes: NDArray[np.int64] | None = None

    @classmethod
    def of(
        cls,
        prediction: Prediction,
        labels: Tensor,
        distance: Tensor | None = None,
        classes: NDArray[np.int64] | None = None,
        energy: Tensor | None = None,
    ) -> "Outcomes":
        """Compare a prediction with labels (T, Q); distance and energy (T, Q), classes (T, N)."""
        # Not every device has double precision, so the sums are made on the CPU.
        probabilities = prediction.probabilities.cpu().double()
        labels = labels.cpu()
        outside = labels == OUTSIDE
        top, predicted = probabilities.max(-1)
        at_label = probabilities.gather(-1, labels.clamp(min=0)[..., None]).squeeze(-1)
        log_likelihood = at_label.clamp(min=torch.finfo(torch.float32).tiny).log()
        # sum_n (p_n - y_n)^2, multiplied out
        brier = probabilities.square().sum(-1) - 2 * at_label + 1
        return cls(
            label=labels.int().numpy(),
            predicted=predicted.int().numpy(),
            top=top.float().numpy(),
            log_likelihood=log_likelihood.masked_fill(outside, torch.nan).float().numpy(),
            brier=brier.masked_fill(outside, torch.nan).float().numpy(),
            entropy=prediction.entropy.float().cpu().numpy(),
            mutual_information=_array(prediction.mutual_information),
            distance=_array(distance),
            energy=_array(energy),
            classes=classes,
        )

    @classmethod
    def joined(cls, batches: list["Outcomes"]) -> "Outcomes":
        """Join the tasks of several batches, in their order."""

        def join(name: str, _: NDArray[Any]) -> NDArray[Any]:
            return np.concatenate([getattr(batch, name) for batch in batches])

        return batches[0].each(join)

    def each(self, change: Callable[[str, NDArray[Any]], NDArray[Any]]) -> "Outcomes":
        """Apply `change`, a function of an array's name and the array, to every array."""
        changed = {}
        for field in dataclasses.fields(self):
            array = getattr(self, field.name)
            if array is not None:
                changed[field.name] = change(field.name, array)
        return dataclasses.replace(self, **changed)

    @property
    def inside(self) -> "Outcomes":
        """The outcomes without the queries from outside the task."""
        columns = self.label[0] != OUTSIDE  # the same columns in every task: they come last

        def select(name: str, array: NDArray[Any]) -> NDArray[Any]:
            if name == "classes":  # a column for each class, not for each query
                return array
            return array[:, columns]

        return self.each(select)

    @property
    def correct(self) -> NDArray[np.bool_]:
        """Whether the predicted class is the true one, (tasks, queries)."""
        return self.predicted == self.label


def _array(values: Tensor | None) -> NDArray[np.float32] | None:
    if values is None:
        return None
    return values.float().cpu().numpy()
