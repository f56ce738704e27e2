"""How good a classifier is on images whose labels are known.

`score_answers` compares answers with the truth: accuracy with an interval, class by class, which
classes are taken for which, whether the probabilities were honest, and whether images of other
classes are called "none of these". An image that is rejected by mistake counts as wrong.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from samovar.classifier.answer import Answer
from samovar.classifier.labels import sorted_labels
from samovar.evaluation.metrics import calibration_bins, expected_calibration_error

Z = 1.96
"""Standard deviations on either side of a 95 % interval."""


@dataclass(frozen=True)
class Share:
    """A share of images, with its 95 % interval by Wilson, which is honest for few images too.

    >>> share = Share(9, 10)
    >>> round(share.value, 2), [round(bound, 2) for bound in share.ci95]
    (0.9, [0.6, 0.98])
    """

    count: int
    images: int

    @property
    def value(self) -> float:
        """The share itself; NaN of no images."""
        if not self.images:
            return math.nan
        return self.count / self.images

    @property
    def ci95(self) -> list[float]:
        """The bounds of the interval; 0 and 1 without images."""
        if not self.images:
            return [0.0, 1.0]
        weight = Z**2 / self.images
        middle = (self.value + weight / 2) / (1 + weight)
        variance = self.value * (1 - self.value) / self.images + weight / (4 * self.images)
        half = Z * math.sqrt(variance) / (1 + weight)
        return [max(0.0, middle - half), min(1.0, middle + half)]

    def to_json(self) -> dict[str, Any]:
        """Return the JSON form; the value is null of no images."""
        value = self.value if self.images else None
        return {"value": value, "ci95": self.ci95, "count": self.count, "images": self.images}


@dataclass(frozen=True)
class Honesty:
    """What the probabilities promised, and what came of it."""

    mean_probability: float
    """The mean probability of the most probable class."""
    best: Share
    """How often the most probable class was right, rejected or not."""
    ece: float
    """The expected calibration error over 15 bins."""

    @property
    def gap(self) -> float:
        """Mean probability minus share right: above zero, the answers are too sure."""
        return self.mean_probability - self.best.value

    @property
    def words(self) -> str:
        """What the gap means; within the interval of the share it means nothing."""
        low, high = self.best.ci95
        if low <= self.mean_probability <= high:
            return "honest, as far as these images can tell"
        if self.gap > 0:
            return "too sure"
        return "too modest"

    def to_json(self) -> dict[str, Any]:
        """Return the JSON form."""
        return {
            "mean_probability": self.mean_probability,
            "share_right": self.best.value,
            "gap": self.gap,
            "words": self.words,
            "ece": self.ece,
        }


@dataclass(frozen=True)
class ScoredImage:
    """The answer to an image whose label is known."""

    image: Any
    """Its name, or its position where it has none."""
    truth: Any
    label: Any
    best: Any
    probability: float
    """Of the most probable class, `best`."""
    rejected: bool

    def to_json(self) -> dict[str, Any]:
        """Return the JSON form, with labels as text."""
        return {
            "image": self.image,
            "truth": str(self.truth),
            "label": str(self.label),
            "best": str(self.best),
            "probability": self.probability,
            "rejected": self.rejected,
        }


@dataclass(frozen=True)
class ScoreReport:
    """How good a classifier is on labelled images."""

    classes: tuple[Any, ...]
    """The classes of the task."""
    others: tuple[Any, ...]
    """Labels that are none of them; their images should be rejected."""
    counts: NDArray[np.int64]
    """Images by truth (classes, then others) and by answer (classes, then "none of these")."""
    images: tuple[ScoredImage, ...]
    honesty: Honesty | None
    """None if no image belongs to a class of the task."""
    reject_label: Any

    @property
    def accuracy(self) -> Share:
        """The share of right answers among images of the task's classes."""
        inside = self.counts[: len(self.classes)]
        return Share(int(np.trace(inside)), int(inside.sum()))

    @property
    def missed(self) -> Share:
        """The share of images of the task's classes that were rejected."""
        inside = self.counts[: len(self.classes)]
        return Share(int(inside[:, -1].sum()), int(inside.sum()))

    @property
    def others_rejected(self) -> Share:
        """The share of images of other classes that were rejected, as they should be."""
        return self._rejected(slice(len(self.classes), None))

    def _rejected(self, rows: slice) -> Share:
        outside = self.counts[rows]
        return Share(int(outside[:, -1].sum()), int(outside.sum()))

    def of_class(self, label: Any) -> Share:
        """Return the accuracy within one class, or the share rejected of another label."""
        names = [*self.classes, *self.others]
        row = names.index(label)
        if row >= len(self.classes):
            return self._rejected(slice(row, row + 1))
        return Share(int(self.counts[row, row]), int(self.counts[row].sum()))

    @property
    def mistakes(self) -> list[ScoredImage]:
        """The images of the task's classes that were answered wrongly, the surest first.

        Those that were rejected come last.
        """
        wrong = []
        for image in self.images:
            if image.truth not in self.others and image.label != image.truth:
                wrong.append(image)
        return sorted(wrong, key=lambda image: (image.rejected, -image.probability))

    @property
    def confusions(self) -> list[tuple[Any, Any, int]]:
        """Which class was taken for which, and how often, the most frequent first."""
        answers = [*self.classes, self.reject_label]
        pairs = []
        for row, truth in enumerate(self.classes):
            for column, answer in enumerate(answers):
                if row != column and self.counts[row, column]:
                    pairs.append((truth, answer, int(self.counts[row, column])))
        return sorted(pairs, key=lambda pair: -pair[2])

    def to_json(self) -> dict[str, Any]:
        """Return the JSON form, which `samovar score` writes as score.json."""
        honesty = None if self.honesty is None else self.honesty.to_json()
        return {
            "images": len(self.images),
            "accuracy": self.accuracy.to_json(),
            "rejected": self.missed.to_json(),
            "calibration": honesty,
            "classes": {str(name): self.of_class(name).to_json() for name in self.classes},
            "none_of_these": {
                "rejected": self.others_rejected.to_json(),
                "labels": {str(name): self.of_class(name).to_json() for name in self.others},
            },
            "confusion": {
                "truths": [str(name) for name in (*self.classes, *self.others)],
                "answers": [*map(str, self.classes), str(self.reject_label)],
                "counts": self.counts.tolist(),
            },
            "mistakes": [image.to_json() for image in self.mistakes],
        }


def score_answers(
    answer: Answer,
    truths: Sequence[Any],
    classes: Sequence[Any],
    names: Sequence[Any] | None = None,
    reject_label: Any = "none of these",
) -> ScoreReport:
    """Compare answers with the truth.

    Args:
        answer: The answers to n images.
        truths: The label of each, of the task's classes or any other.
        classes: The task's classes, in the order of the probabilities.
        names: What to call the images; their positions by default.
        reject_label: What a rejected image is called.
    """
    others = tuple(sorted_labels([truth for truth in truths if truth not in classes]))
    row_of = {label: row for row, label in enumerate([*classes, *others])}
    counts = np.zeros((len(row_of), len(classes) + 1), np.int64)
    best = answer.probabilities.argmax(1)
    top = answer.probabilities.max(1, initial=0.0)
    images = []
    for position, truth in enumerate(truths):
        rejected = bool(answer.rejected[position])
        column = len(classes) if rejected else int(best[position])
        counts[row_of[truth], column] += 1
        image = ScoredImage(
            image=position if names is None else names[position],
            truth=truth,
            label=reject_label if rejected else classes[column],
            best=classes[int(best[position])],
            probability=float(top[position]),
            rejected=rejected,
        )
        images.append(image)
    inside = np.array([truth in classes for truth in truths], bool)
    right = np.array([image.best == image.truth for image in images], bool)
    honesty = _honesty(top[inside], right[inside])
    return ScoreReport(tuple(classes), others, counts, tuple(images), honesty, reject_label)


def _honesty(top: NDArray[np.float64], right: NDArray[np.bool_]) -> Honesty | None:
    if not len(top):
        return None
    ece = expected_calibration_error(calibration_bins(top[None], right[None].astype(float))[0])
    return Honesty(float(top.mean()), Share(int(right.sum()), len(right)), ece)
