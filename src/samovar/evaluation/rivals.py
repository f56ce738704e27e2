"""The rivals of a model: simple classifiers that are fitted to the support of each task.

They see what the model sees: the same tasks, and the features of its backbone or of its encoder.
Nothing about them is learned over tasks, except a temperature each (`fitted_rivals`). All take many
tasks at once and return logits (T, Q, N).
"""

import warnings
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

import torch
from torch import Tensor
from torch.nn import functional

from samovar.evaluation.discriminant import discriminant_logits
from samovar.evaluation.predictors import Predictor

LENGTH = 8.0
"""Logistic regression sees features of this length: with scikit-learn's own penalty, features of
length 1 would leave all probabilities near those of chance.
"""
COSINE_SCALE = 10.0
"""Logits of the nearest centroid are its cosine times this, as is the custom."""
MOST_ITERATIONS = 1000


@dataclass(frozen=True)
class TaskFeatures:
    """Features of T tasks of `way` classes, in float64 on the CPU.

    support: (T, S, d); support_labels: (T, S); query: (T, Q, d).
    """

    support: Tensor
    support_labels: Tensor
    query: Tensor
    way: int

    @classmethod
    def of(cls, support: Tensor, labels: Tensor, query: Tensor, way: int) -> "TaskFeatures":
        """Take features of any precision, from any device."""
        return cls(support.cpu().double(), labels.cpu(), query.cpu().double(), way)

    @cached_property
    def class_means(self) -> Tensor:
        """The mean of each class's support, (T, N, d)."""
        membership = functional.one_hot(self.support_labels, self.way).double()  # (T, S, N)
        counts = membership.sum(1)[..., None]
        return membership.mT @ self.support / counts

    @cached_property
    def unit(self) -> "TaskFeatures":
        """The same tasks with features of length 1."""
        return TaskFeatures(
            functional.normalize(self.support, dim=-1),
            self.support_labels,
            functional.normalize(self.query, dim=-1),
            self.way,
        )


def prototypes(tasks: TaskFeatures) -> Tensor:
    """Return minus the squared distance to each class mean."""
    return -torch.cdist(tasks.query, tasks.class_means).square()


def nearest_centroid(tasks: TaskFeatures) -> Tensor:
    """Return ten times the cosine to each class mean."""
    means = functional.normalize(tasks.unit.class_means, dim=-1)
    return COSINE_SCALE * tasks.unit.query @ means.mT


def discriminant_analysis(tasks: TaskFeatures) -> Tensor:
    """Return the log density under each class, by linear discriminant analysis."""
    unit = tasks.unit
    return discriminant_logits(unit.support, unit.support_labels, unit.query, unit.class_means)


def logistic_regression(tasks: TaskFeatures) -> Tensor:
    """Return the decision function of scikit-learn's logistic regression, as it comes."""
    from threadpoolctl import threadpool_limits

    support, query = in_span(LENGTH * tasks.unit.support, LENGTH * tasks.unit.query)
    logits = []
    # On matrices this small, threads wait for each other three times as long as they work.
    with threadpool_limits(1):
        for number, labels in enumerate(tasks.support_labels):
            logits.append(_logistic_logits(support[number], labels, query[number]))
    return torch.stack(logits)


def _logistic_logits(support: Tensor, labels: Tensor, query: Tensor) -> Tensor:
    from sklearn.linear_model import LogisticRegression

    model = LogisticRegression(max_iter=MOST_ITERATIONS)
    with warnings.catch_warnings():
        # scikit-learn asks whether one image of each class is a regression.
        warnings.filterwarnings("ignore", message="The number of unique classes is greater than")
        model.fit(support.numpy(), labels.numpy())
    decision = torch.from_numpy(model.decision_function(query.numpy()))
    if decision.ndim == 1:  # two classes have one decision, the difference of two logits
        return torch.stack([-decision / 2, decision / 2], -1)
    return decision


def in_span(support: Tensor, query: Tensor) -> tuple[Tensor, Tensor]:
    """Return support (T, S, r) and query (T, Q, r) in coordinates of the support's own span.

    The weights of a penalised linear classifier lie in that span, so its answers are the same, and
    25 vectors of 1280 numbers become 25 of 25.
    """
    if support.shape[1] >= support.shape[2]:
        return support, query
    basis, _ = torch.linalg.qr(support.mT)
    return support @ basis, query @ basis


LOGITS: dict[Predictor, Callable[[TaskFeatures], Tensor]] = {
    Predictor.LOGISTIC_REGRESSION: logistic_regression,
    Predictor.PROTOTYPES: prototypes,
    Predictor.DISCRIMINANT_ANALYSIS: discriminant_analysis,
    Predictor.NEAREST_CENTROID: nearest_centroid,
}
"""What each rival makes of tasks."""
