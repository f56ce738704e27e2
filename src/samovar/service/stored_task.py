"""A task of the service: a fitted model, its examples, and names for them that are ours.

Everything that must survive is in the task file, the same that `samovar predict` takes. Examples
and classes have ids that follow from their content, so that nothing else needs to be stored, and
every worker process gives the same ones.
"""

import hashlib
import json
import re
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import torch

from samovar.classifier.fitted_regression import FittedRegression
from samovar.classifier.leave_one_out import LeaveOneOut
from samovar.classifier.loading import Fitted
from samovar.classifier.regression_task import RegressionTask
from samovar.classifier.support_names import DIGEST, SupportNames
from samovar.classifier.task_file import TaskInfo
from samovar.service.problems import Problem

ID = r"^[0-9a-f]{16}$"
"""The form of every id: 16 hexadecimal digits."""


def is_id(text: str) -> bool:
    """Tell whether a text has the form of an id.

    >>> is_id("0123456789abcdef"), is_id("0123456789abcdef\\n")
    (True, False)
    """
    # Python's $ would let a line break pass.
    return re.fullmatch(ID.strip("^$"), text) is not None


def id_of(*facts: Any) -> str:
    """Return an id that follows from some facts.

    >>> id_of("cat") == id_of("cat"), id_of("3") == id_of(3)
    (True, False)
    """
    return hashlib.sha256(json.dumps(facts).encode()).hexdigest()[:16]


@dataclass(frozen=True)
class Example:
    """An example of a task."""

    id: str
    position: int
    """Where it stands in the task."""
    name: str
    """What the client's file was called."""
    label: Any
    digest: str


@dataclass(frozen=True)
class StoredTask:
    """A task as it is in its file."""

    id: str
    fitted: Fitted
    info: TaskInfo
    changed: float
    """When the file was written, in seconds since 1970."""

    @property
    def classes(self) -> list[Any]:
        """The labels, in the order of the probabilities."""
        return list(self.fitted.task.classes)

    @property
    def counts(self) -> list[int]:
        """The number of examples of each class."""
        counts: list[int] = self.fitted.task.counts.tolist()
        return counts

    @cached_property
    def names(self) -> SupportNames:
        """The names of the examples; made up where the task was not fitted to files."""
        if self.info.support is not None:
            return self.info.support
        task = self.fitted.task
        if isinstance(task, RegressionTask):
            return _made_up_names(task)
        return SupportNames((), (), ())  # sums, of which single images cannot be told

    @cached_property
    def examples(self) -> list[Example]:
        """The examples, in the order of the task."""
        examples = []
        names = self.names
        files = zip(names.names, names.labels, names.digests, strict=True)
        seen: dict[str, int] = {}
        for position, (name, label, digest) in enumerate(files):
            key = id_of(digest, label)
            # A task that came as a file may have an image twice in a class.
            seen[key] = seen.get(key, 0) + 1
            if seen[key] > 1:
                key = id_of(digest, label, seen[key])
            examples.append(Example(key, position, name, label, digest))
        return examples

    @cached_property
    def measured(self) -> LeaveOneOut | None:
        """What leave-one-out finds; of a model that keeps only sums, what it found when fitted."""
        if isinstance(self.fitted, FittedRegression):
            return self.fitted.leave_one_out(self.info.parameters)
        return self.info.leave_one_out

    @cached_property
    def wrong(self) -> dict[int, Any]:
        """What the other examples take an example for, by its position, where that is wrong."""
        if self.measured is None:
            return {}
        return {mistake.position: mistake.answer for mistake in self.measured.wrong}

    def label_of(self, name: str) -> Any:
        """Return the label that is shown as `name`; labels of a task file may be numbers."""
        for label in self.classes:
            if str(label) == name:
                return label
        return name

    def without(self, positions: set[int]) -> tuple[Fitted, SupportNames]:
        """Return the fit to all examples but some."""
        task = self.fitted.task
        if not isinstance(self.fitted, FittedRegression) or not isinstance(task, RegressionTask):
            raise Problem(
                409,
                f"The model {self.info.model} keeps only sums of its examples, so none can be "
                "taken out. Make a new task without it, or use the model photos.",
            )
        kept = [place for place in range(len(task.labels)) if place not in positions]
        if not kept:
            raise Problem(409, "A task needs at least one example. Delete the task instead.")
        labels = [task.labels[position] for position in kept]
        rest = RegressionTask.of(task.vectors[torch.tensor(kept)], labels)
        return FittedRegression(self.fitted.saved, rest), self.names.at(kept)


def _made_up_names(task: RegressionTask) -> SupportNames:
    names = []
    digests = []
    for number, vector in enumerate(task.vectors, start=1):
        names.append(f"example {number}")
        digests.append(hashlib.sha256(vector.numpy().tobytes()).hexdigest()[:DIGEST])
    return SupportNames(tuple(names), tuple(task.labels), tuple(digests))


def with_labels_of(task: StoredTask, names: SupportNames) -> SupportNames:
    """Return the names of new examples with the labels that the task has for their classes."""
    return replace(names, labels=tuple(task.label_of(str(label)) for label in names.labels))
