"""What may be wrong with the images of a task, as `samovar check` finds it.

`check_support` looks for labels that are probably wrong, for near-duplicates, for classes that
cannot be told apart and for classes with too few images; `check_camera` compares new images with
those of the task. Redundant duplicates are set aside first, since they would speak for each other.
"""

import dataclasses
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from samovar.classifier.answer import AnswerParameters
from samovar.classifier.fitted_regression import FittedRegression, fit_regression
from samovar.classifier.loading import Fitted
from samovar.classifier.support_judgement import Judgement, judge_support, support_labels
from samovar.models.closed_form import unit_features
from samovar.prediction.changed_camera import CameraChange, changed_camera
from samovar.prediction.near_duplicates import near_duplicates

FEW = 3
"""Classes with fewer images are named."""
MIXED_UP = 0.25
"""Two classes cannot be told apart if this share of their images is taken for the other class."""
LEAST_MISTAKES = 3
"""So many images must be, at least: one or two may be an accident."""


@dataclass(frozen=True)
class SuspectLabel:
    """An image whose label is probably wrong."""

    image: Any
    """Its file name, or its position where that is not known."""
    label: Any
    answer: Any
    """The class that the other images give it."""
    wrong: float
    """How probable it is that the label is wrong."""
    given: float
    """The probability that the other images give to its label."""


@dataclass(frozen=True)
class Duplicates:
    """Images that show the same picture."""

    images: tuple[Any, ...]
    labels: tuple[Any, ...]

    @property
    def across(self) -> bool:
        """Whether they are in more than one class."""
        return len(set(self.labels)) > 1


@dataclass(frozen=True)
class MixedClasses:
    """Two classes that cannot be told apart."""

    first: Any
    second: Any
    mistakes: int
    images: int


@dataclass(frozen=True)
class SmallClass:
    """A class with too few images."""

    label: Any
    images: int


@dataclass(frozen=True)
class CheckReport:
    """Everything that was found; the most important of each kind first."""

    images: int
    suspects: tuple[SuspectLabel, ...]
    duplicates: tuple[Duplicates, ...] | None
    """None if they were not looked for: only models with an encoder compare pictures."""
    mixed: tuple[MixedClasses, ...]
    small: tuple[SmallClass, ...]
    camera: CameraChange | None = None
    """How new images compare, where there are any."""

    @property
    def clean(self) -> bool:
        """Whether nothing was found."""
        changed = self.camera is not None and self.camera.changed
        return not (self.suspects or self.duplicates or self.mixed or self.small or changed)

    def redundant(self) -> list[Any]:
        """Return the duplicates that can go: all but the first of each class of a group."""
        found = []
        for group in self.duplicates or ():
            seen = set()
            for image, label in zip(group.images, group.labels, strict=True):
                if label in seen:
                    found.append(image)
                seen.add(label)
        return found

    def to_json(self) -> dict[str, Any]:
        """Return the report as `check.json` holds it."""
        report = dataclasses.asdict(self)
        report["clean"] = self.clean
        if self.camera is not None:
            report["camera"]["changed"] = self.camera.changed
        return report


def check_support(
    fitted: Fitted,
    parameters: AnswerParameters,
    names: Sequence[Any] | None = None,
    looks: NDArray[np.float32] | None = None,
) -> CheckReport:
    """Check the images of a task.

    Args:
        fitted: A model with the task that it is fitted to.
        parameters: How images are answered.
        names: The names of the images; their positions without.
        looks: Small grey versions of the images, where they are at hand.
    """
    labels = support_labels(fitted)
    if names is None:
        names = range(len(labels))
    groups = _groups(fitted, looks)
    kept = _without_redundant(labels, groups or [])
    positions = torch.nonzero(kept).flatten().tolist()
    judgement = judge_support(_reduced(fitted, kept), parameters)
    classes = fitted.task.classes
    return CheckReport(
        len(labels),
        _suspects(judgement, classes, [names[position] for position in positions]),
        _duplicates(groups, [classes[number] for number in labels.tolist()], names),
        _mixed(judgement, classes),
        _small(labels[kept], classes),
    )


def _groups(fitted: Fitted, looks: NDArray[np.float32] | None) -> list[tuple[int, ...]] | None:
    """Return groups of duplicates; None for a model whose features say little about pictures."""
    if not isinstance(fitted, FittedRegression):
        return None
    return near_duplicates(unit_features(fitted.task.vectors, fitted.saved.model.power), looks)


def _without_redundant(labels: Tensor, groups: Sequence[tuple[int, ...]]) -> Tensor:
    """Return which images are judged, (n,): of duplicates within a class only the first."""
    kept = torch.ones(len(labels), dtype=torch.bool)
    for group in groups:
        seen = set()
        for position in group:
            label = int(labels[position])
            kept[position] = label not in seen
            seen.add(label)
    return kept


def _reduced(fitted: Fitted, kept: Tensor) -> Fitted:
    """Return the task with some of its images; every class keeps one."""
    if not isinstance(fitted, FittedRegression) or bool(kept.all()):
        return fitted
    positions = torch.nonzero(kept).flatten().tolist()
    labels = fitted.task.labels
    kept_labels = [labels[position] for position in positions]
    return fit_regression(fitted.saved, list(fitted.task.vectors[kept]), kept_labels)


def _suspects(
    judgement: Judgement, classes: Sequence[Any], names: Sequence[Any]
) -> tuple[SuspectLabel, ...]:
    found = []
    for position in torch.nonzero(judgement.suspected).flatten().tolist():
        number = int(judgement.labels[position])
        probabilities = judgement.probabilities[position].clone()
        given = float(probabilities[number])
        probabilities[number] = -1  # the answer is another class than the label
        suspect = SuspectLabel(
            image=names[position],
            label=classes[number],
            answer=classes[int(probabilities.argmax())],
            wrong=float(judgement.wrong[position]),
            given=given,
        )
        found.append(suspect)
    return tuple(sorted(found, key=lambda suspect: -suspect.wrong))


def _duplicates(
    groups: list[tuple[int, ...]] | None, labels: Sequence[Any], names: Sequence[Any]
) -> tuple[Duplicates, ...] | None:
    """Return the groups with names, those across classes first."""
    if groups is None:
        return None
    found = []
    for group in groups:
        images = tuple(names[position] for position in group)
        found.append(Duplicates(images, tuple(labels[position] for position in group)))
    return tuple(sorted(found, key=lambda duplicates: not duplicates.across))


def _mixed(judgement: Judgement, classes: Sequence[Any]) -> tuple[MixedClasses, ...]:
    """Return pairs of classes whose images are often taken for each other.

    Only the two classes of a pair are compared, and images whose label is suspected do not count.
    """
    counted = judgement.able & ~judgement.suspected
    labels = judgement.labels[counted]
    probabilities = judgement.probabilities[counted]
    own = probabilities.gather(1, labels[:, None])
    # beaten[a, b]: images of class a that are taken for b.
    beaten = torch.zeros(len(classes), len(classes))
    beaten.index_add_(0, labels, (probabilities > own).float())
    counts = torch.bincount(labels, minlength=len(classes))
    found = []
    for first in range(len(classes)):
        for second in range(first + 1, len(classes)):
            mistakes = int(beaten[first, second] + beaten[second, first])
            images = int(counts[first] + counts[second])
            if mistakes >= LEAST_MISTAKES and mistakes >= MIXED_UP * images:
                found.append(MixedClasses(classes[first], classes[second], mistakes, images))
    return tuple(sorted(found, key=lambda pair: -pair.mistakes / pair.images))


def _small(labels: Tensor, classes: Sequence[Any]) -> tuple[SmallClass, ...]:
    counts = torch.bincount(labels, minlength=len(classes)).tolist()
    small = []
    for label, count in zip(classes, counts, strict=True):
        if count < FEW:
            small.append(SmallClass(label, count))
    return tuple(small)


def check_camera(
    fitted: Fitted, inputs: list[Tensor], parameters: AnswerParameters
) -> CameraChange | None:
    """Compare new images with those of a task; None if it cannot be done.

    It needs the vectors of a model with an encoder, and new images of classes of the task.
    """
    if not isinstance(fitted, FittedRegression) or not inputs:
        return None
    kept = torch.ones(len(fitted.task.numbers), dtype=torch.bool)
    old = fitted.judged_by(kept, parameters).argmax(1)
    new = fitted.predict(inputs, parameters).probabilities[0].argmax(1)
    vectors = torch.cat([fitted.task.vectors, fitted.stacked(inputs)])
    features = unit_features(vectors, fitted.saved.model.power).numpy()
    is_new = np.arange(len(vectors)) >= len(old)
    return changed_camera(features, torch.cat([old, new]).numpy(), is_new, parameters.seed)
