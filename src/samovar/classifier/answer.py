"""How images are answered, and what an answer contains."""

from dataclasses import dataclass
from typing import Any, NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

from samovar.classifier.labels import listed_labels
from samovar.errors import ModelError, SettingsError
from samovar.prediction.predictive import Prediction
from samovar.prediction.rejection import ThresholdTable, check_rejection_rate

MOST_SAMPLES = 10_000
"""Most sampled classifiers of an answer. A million took two minutes for each image, and 256
quasi-random ones are as good as 1000 random ones."""
USUAL_RATE = 0.05
"""The share of images that belong but may be rejected by mistake, unless the user chooses one."""


@dataclass(frozen=True)
class AnswerParameters:
    """How images are answered; a task file keeps these in this order."""

    samples: int = 128
    """The number of quasi-random classifiers that are averaged."""
    reject: float | None = None
    """The share of images that belong but may be rejected by mistake; None rejects nothing."""
    reject_label: Any = "none of these"
    """The label of rejected images."""
    seed: int = 0
    """Seeds the sampled classifiers."""

    def check(self, rejection: ThresholdTable[Any] | None) -> None:
        """Refuse what cannot be answered by a model with these rejection thresholds."""
        whole = isinstance(self.samples, int | np.integer)
        if not whole or not 1 <= self.samples <= MOST_SAMPLES:
            raise SettingsError(
                f"samples must be a whole number from 1 to {MOST_SAMPLES}, but is {self.samples!r}."
            )
        if self.reject is not None:
            check_rejection_rate(self.reject)
            thresholds_of(rejection)


Table = TypeVar("Table", bound=ThresholdTable[Any])


def thresholds_of(rejection: Table | None) -> Table:
    """Return a model's rejection thresholds, or say that it has none."""
    if rejection is None:
        raise ModelError(
            "This model has no thresholds for rejection, or those of an earlier version that used "
            "another score. Train it again to measure them, or use reject=None (--reject never)."
        )
    return rejection


class Uncertainty(NamedTuple):
    """The uncertainty of each image in nats."""

    entropy: NDArray[np.float64]
    """The entropy of the predictive."""
    mutual_information: NDArray[np.float64] | None
    """How much the sampled classifiers disagree; None for a model that has only one."""


class Answer(NamedTuple):
    """Everything about n images from one look at them."""

    labels: NDArray[Any]
    """The most probable label of each, or `reject_label` where it is rejected."""
    probabilities: NDArray[np.float64]
    """(n, classes); they never include "none of these"."""
    uncertainty: Uncertainty
    rejected: NDArray[np.bool_]
    distance: NDArray[np.float64]
    """How little each image belongs to the classes; what lies beyond the threshold is rejected.

    1 - the cosine to the nearest class mean; for `photos`, log variance - 2 x largest score, which
    may be negative.
    """
    spread: NDArray[np.float64] | None = None
    """(n, classes); the standard deviation of the probabilities over the sampled classifiers.

    None for a model that has only one.
    """


def answer_of(
    classes: NDArray[Any],
    prediction: Prediction,
    distance: NDArray[np.float64],
    threshold: float | None,
    reject_label: Any,
) -> Answer:
    """Put an answer together; images beyond the threshold are rejected, none without one."""
    probabilities = probabilities_of(prediction)
    _check_finite(distance)
    labels = classes[probabilities.argmax(1)]
    rejected = np.zeros(len(distance), bool)
    if threshold is not None:
        rejected = distance > threshold
        labels = with_rejected(labels, rejected, reject_label)
    spread = None
    if prediction.spread is not None:
        spread = prediction.spread[0].cpu().double().numpy()
    return Answer(labels, probabilities, uncertainty_of(prediction), rejected, distance, spread)


def probabilities_of(prediction: Prediction) -> NDArray[np.float64]:
    """Return the probabilities (n, classes) of one task's queries, summing to one in float64."""
    probabilities = prediction.probabilities[0].cpu().double().numpy()
    _check_finite(probabilities)
    # The float32 probabilities sum to one only up to their rounding.
    return probabilities / probabilities.sum(1, keepdims=True)


def _check_finite(values: NDArray[np.float64]) -> None:
    """Refuse NaN, which a model with absurd weights or settings would answer."""
    if not np.isfinite(values).all():
        raise ModelError(
            "The model's answers to these images are not finite numbers: its weights or its "
            "settings are damaged."
        )


def uncertainty_of(prediction: Prediction) -> Uncertainty:
    """Return the uncertainty of one task's queries."""
    entropy = prediction.entropy[0].cpu().double().numpy()
    if prediction.mutual_information is None:
        return Uncertainty(entropy, None)
    return Uncertainty(entropy, prediction.mutual_information[0].cpu().double().numpy())


def with_rejected(
    labels: NDArray[Any], rejected: NDArray[np.bool_], reject_label: Any
) -> NDArray[Any]:
    """Return the labels with `reject_label` where rejected, as an array of their common type."""
    if not len(labels):
        return labels
    # As objects first: in an array of text or numbers the reject label might not fit.
    answers = np.array(labels, dtype=object)
    answers[rejected] = reject_label
    return listed_labels(answers.tolist())
