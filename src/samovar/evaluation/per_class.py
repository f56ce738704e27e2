"""Which classes are easy, which are hard, and which classes the hard ones are mistaken for."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from samovar.evaluation.outcomes import Outcomes

SHOWN = 10
"""Classes in each of the two lists."""
MISTAKEN_FOR = 5
"""Classes listed beside each hard class."""


@dataclass(frozen=True)
class Mistake:
    """A class that a hard class is mistaken for.

    share: of the queries of the hard class, in tasks where both classes are, those that were
    classified as this one.
    """

    name: str
    share: float


@dataclass(frozen=True)
class ClassMetrics:
    """How many queries a class had, and their accuracy."""

    name: str
    queries: int
    accuracy: float


@dataclass(frozen=True)
class HardClass(ClassMetrics):
    """A hard class, with the classes that it is mistaken for most often."""

    taken_for: list[Mistake]


@dataclass(frozen=True)
class ClassRanking:
    """The classes with the lowest and with the highest accuracy, the extreme ones first."""

    hardest: list[HardClass]
    easiest: list[ClassMetrics]


def per_class_metrics(class_names: Sequence[str], outcomes: Outcomes) -> ClassRanking:
    """Rank the classes by the accuracy of their queries; needs `outcomes.classes`."""
    counts = _Counts(class_names, outcomes)
    seen = np.flatnonzero(counts.queries)
    accuracy = counts.correct[seen] / counts.queries[seen]
    order = seen[np.argsort(accuracy, kind="stable")]
    return ClassRanking(
        hardest=[counts.hard_class(position) for position in order[:SHOWN]],
        easiest=[counts.class_metrics(position) for position in order[::-1][:SHOWN]],
    )


class _Counts:
    """Queries and correct predictions of each class, by its position in the data set."""

    def __init__(self, class_names: Sequence[str], outcomes: Outcomes) -> None:
        assert outcomes.classes is not None
        inside = outcomes.inside
        self.names = class_names
        self.classes = outcomes.classes
        # From labels within a task, 0 to N - 1, to positions in the data set: (tasks, queries).
        self.truth = np.take_along_axis(outcomes.classes, inside.label, 1)
        self.predicted = np.take_along_axis(outcomes.classes, inside.predicted, 1)
        self.queries = self._count(self.truth)
        self.correct = self._count(self.truth[inside.correct])

    def _count(self, positions: NDArray[np.int64]) -> NDArray[np.int64]:
        return np.bincount(positions.ravel(), minlength=len(self.names))

    def class_metrics(self, position: int) -> ClassMetrics:
        accuracy = self.correct[position] / self.queries[position]
        return ClassMetrics(self.names[position], int(self.queries[position]), float(accuracy))

    def hard_class(self, position: int) -> HardClass:
        metrics = self.class_metrics(position)
        taken_for = self.mistakes(position)
        return HardClass(metrics.name, metrics.queries, metrics.accuracy, taken_for)

    def mistakes(self, position: int) -> list[Mistake]:
        """Return the classes that a class is most often mistaken for, as far as there are any."""
        tasks, queries = np.nonzero(self.truth == position)
        # Each query counts once for every class of its task: it could be mistaken for any of them.
        beside = self._count(self.classes[tasks])
        mistaken = self._count(self.predicted[tasks, queries])
        mistaken[position] = 0
        share = mistaken / np.maximum(1, beside)
        mistakes = []
        for other in np.argsort(-share, kind="stable")[:MISTAKEN_FOR]:
            if mistaken[other]:
                mistakes.append(Mistake(self.names[other], float(share[other])))
        return mistakes
