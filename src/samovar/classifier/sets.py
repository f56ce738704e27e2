"""Prediction sets of a fitted task: which labels are plausible, and what is guaranteed of them.

There are four ways to them, and the first that a task allows is taken:

1. split conformal, by held-out images that were given to `calibrate`: guaranteed;
2. full conformal, by the support of a regression like `photos`: guaranteed
   (`samovar.prediction.full_conformal`);
3. leave-one-out, by the left-out support images of other models: not guaranteed, since a new image
   is answered by one image more than they were;
4. transferred, at one image of each class, by quantiles of other tasks: not guaranteed.

What is guaranteed is the share of all new images (or of those of each class) whose set has their
label, on average over images like the given ones. It is not guaranteed for a single image.
"""

import warnings
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from samovar.classifier.answer import AnswerParameters
from samovar.classifier.fitted_regression import FittedRegression
from samovar.classifier.known_scores import KnownScores
from samovar.classifier.loading import Fitted, left_out_scores
from samovar.errors import ModelError, SettingsError
from samovar.prediction.conformal import (
    check_confidence,
    check_level,
    listed_sets,
    members,
    nonconformity,
    p_values,
    p_values_by_class,
)
from samovar.prediction.full_conformal import comparable, full_conformal

CALIBRATE = "Ask for less, or calibrate with held-out images (calibrate, samovar calibrate)."


class SetMethod(StrEnum):
    """How sets are made."""

    SPLIT = "split conformal"
    FULL = "full conformal"
    LEAVE_ONE_OUT = "leave-one-out"
    TRANSFERRED = "transferred"


@dataclass(frozen=True)
class SetRequest:
    """What is asked for: a confidence, of all images or of those of each class."""

    confidence: float = 0.9
    per_class: bool = False

    def check(self) -> None:
        """Refuse a confidence that is none."""
        check_confidence(self.confidence)


@dataclass(frozen=True)
class PredictedSets:
    """The sets of n images: a row for each, in the order of the classes."""

    members: NDArray[np.bool_]
    """(n, classes)"""
    request: SetRequest
    method: SetMethod
    note: str
    """What is guaranteed, or that nothing is, in a sentence without its full stop."""

    @property
    def guaranteed(self) -> bool:
        """Whether the confidence is guaranteed for images that are drawn alike."""
        return self.method in (SetMethod.SPLIT, SetMethod.FULL)

    def listed(self, probabilities: NDArray[np.float64], labels: list[Any]) -> list[list[Any]]:
        """Return the labels in each set, the most probable first."""
        return listed_sets(self.members, probabilities, labels)

    def to_json(self) -> dict[str, Any]:
        """Return how the sets were made, as `samovar predict --json` has it."""
        return {
            "confidence": self.request.confidence,
            "per_class": self.request.per_class,
            "method": self.method.value,
            "guaranteed": self.guaranteed,
            "note": self.note,
        }


def predict_sets(
    fitted: Fitted,
    inputs: list[Tensor],
    probabilities: NDArray[np.float64],
    request: SetRequest,
    parameters: AnswerParameters,
) -> PredictedSets:
    """Return the sets of images.

    Args:
        fitted: The task.
        inputs: The images as it takes them.
        probabilities: Its answer to them, (n, classes).
        request: What is asked for.
        parameters: How images are answered.
    """
    request.check()
    if fitted.held_out is not None:
        return _split(fitted.held_out, probabilities, request)
    if bool((fitted.task.counts == 1).all()):
        return _transferred(fitted, probabilities, request)
    if isinstance(fitted, FittedRegression):
        return _full(fitted, inputs, request)
    known = left_out_scores(fitted, fitted.leave_one_out(parameters))
    if known is None:
        raise ModelError(
            "This task no longer has what its support images would answer without each other: it "
            "was made by an earlier version, extended after it was loaded, or its model has TEN. "
            "Fit it again with all images, or calibrate it with held-out images."
        )
    return _left_out(known, probabilities, request)


def _split(
    known: KnownScores, probabilities: NDArray[np.float64], request: SetRequest
) -> PredictedSets:
    chosen = _by_known(known, probabilities, request, "held-out images", "Calibrate with more.")
    note = _guarantee(request, f"they and the {len(known)} held-out images are drawn alike")
    return PredictedSets(chosen, request, SetMethod.SPLIT, note)


def _left_out(
    known: KnownScores, probabilities: NDArray[np.float64], request: SetRequest
) -> PredictedSets:
    what = "support images whose class has another"
    chosen = _by_known(known, probabilities, request, what, CALIBRATE)
    note = (
        f"no guarantee: by {len(known)} support images, each answered without itself; a new image "
        "is answered by one more"
    )
    return PredictedSets(chosen, request, SetMethod.LEAVE_ONE_OUT, note)


def _by_known(
    known: KnownScores,
    probabilities: NDArray[np.float64],
    request: SetRequest,
    what: str,
    remedy: str,
) -> NDArray[np.bool_]:
    """Return the members of sets by scores of images whose labels are known."""
    scores = np.array(known.scores)
    misfits = nonconformity(probabilities)
    if not request.per_class:
        check_level(request.confidence, len(known), what, remedy)
        return members(p_values(misfits, scores), request.confidence)
    fewest = int(known.counts(probabilities.shape[1]).min())
    check_level(request.confidence, fewest, f"{what} of each class", remedy)
    values = p_values_by_class(misfits, scores, np.array(known.numbers))
    return members(values, request.confidence)


def _full(fitted: FittedRegression, inputs: list[Tensor], request: SetRequest) -> PredictedSets:
    regression = fitted.regression
    what = "support images whose class has another"
    if request.per_class:
        what = "support images of each class"
    fewest = int(comparable(regression, per_class=request.per_class).min())
    check_level(request.confidence, fewest, what, CALIBRATE)
    vectors = fitted.task.vectors[:0]
    if inputs:
        vectors = torch.stack(inputs)
    found = full_conformal(regression, vectors, per_class=request.per_class)
    note = _guarantee(request, "they and the support images are drawn alike")
    return PredictedSets(members(found.values, request.confidence), request, SetMethod.FULL, note)


def _transferred(
    fitted: Fitted, probabilities: NDArray[np.float64], request: SetRequest
) -> PredictedSets:
    """Take the quantile of tasks of the same shape."""
    quantiles = fitted.saved.set_quantiles
    if quantiles is None:
        raise ModelError(
            "With one image of each class, sets need quantiles that are measured when a model is "
            "trained, and this model has none. Train it again, give a second image of each class, "
            "or calibrate the task with held-out images."
        )
    if request.per_class:
        raise SettingsError(
            "With one image of each class, sets cannot be made per class. Calibrate the task with "
            "held-out images of each class."
        )
    way = probabilities.shape[1]
    quantile = quantiles.quantile(way, request.confidence)
    chosen = nonconformity(probabilities) <= quantile
    note = (
        f"no guarantee: a quantile of other tasks with one image of each class ({quantiles.about})"
    )
    if fitted.saved.encoder_is_chosen:
        note += "; it was measured with the model's own encoder"
    measured = quantiles.cell(way).way
    if measured < way:
        note += f"; it was measured with at most {measured} classes, and is too small for {way}"
    return PredictedSets(chosen, request, SetMethod.TRANSFERRED, note)


def _guarantee(request: SetRequest, alike: str) -> str:
    of = "of new images of each class" if request.per_class else "of new images"
    return f"at least {100 * request.confidence:.6g} % {of} have their class in the set, if {alike}"


def lost_calibration(fitted: Fitted) -> str:
    """Say that a task that is about to grow will lose its calibration; nothing if it has none."""
    if fitted.held_out is None:
        return ""
    return (
        f"the task was calibrated with {len(fitted.held_out)} held-out images, which were "
        "answered without the new ones: calibrate it again"
    )


def warn_of_lost_calibration(fitted: Fitted) -> None:
    """Warn in Python of what `lost_calibration` says."""
    message = lost_calibration(fitted)
    if message:
        warnings.warn(f"The calibration is dropped: {message}.", stacklevel=3)
