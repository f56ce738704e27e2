"""What to label next: the suggestions of a fitted task for a heap of unlabelled images."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from torch import Tensor

from samovar.classifier.answer import AnswerParameters
from samovar.classifier.fitted_regression import FittedRegression
from samovar.classifier.loading import Fitted
from samovar.errors import SettingsError
from samovar.prediction.suggestion import (
    choose,
    doubt_of,
    feature_covariance,
    most_doubtful,
    regression_covariance,
)
from samovar.prediction.task import class_means


class Suggestions(NamedTuple):
    """Images to label next, the most telling one first."""

    positions: NDArray[np.int64]
    """Where they stand among the given images."""
    scores: NDArray[np.float64]
    """How much each tells, given those before it: see `samovar.prediction.suggestion`."""
    mutual_information: NDArray[np.float64] | None
    """Of its label and the classifier, in nats; None for a model that has only one classifier."""


def suggest(
    fitted: Fitted, inputs: list[Tensor], count: int, parameters: AnswerParameters
) -> Suggestions:
    """Return which of the images to label next, at most `count` of them.

    Args:
        fitted: A model with the task that it is fitted to.
        inputs: The images as the model takes them.
        count: How many images will be labelled before the next look.
        parameters: How images are answered.
    """
    if count < 1:
        raise SettingsError(f"The number of suggestions must be at least 1, but is {count}.")
    if not inputs:
        return Suggestions(np.zeros(0, np.int64), np.zeros(0), None)
    prediction = fitted.predict(inputs, parameters)
    doubt = doubt_of(prediction.probabilities[0].cpu())
    candidates = most_doubtful(doubt)
    covariance, ridge = _covariance(fitted, [inputs[place] for place in candidates.tolist()])
    chosen = choose(doubt[candidates], covariance, ridge, count)
    positions = candidates[chosen.positions]
    information = None
    if prediction.mutual_information is not None:
        information = prediction.mutual_information[0].cpu()[positions].double().numpy()
    return Suggestions(positions.numpy(), chosen.scores.double().numpy(), information)


def _covariance(fitted: Fitted, inputs: list[Tensor]) -> tuple[Tensor, float]:
    if isinstance(fitted, FittedRegression):
        return regression_covariance(fitted.regression, fitted.stacked(inputs))
    features = fitted.embed(inputs)
    means = class_means(fitted.task.totals, fitted.task.counts, features.device).means[0]
    return feature_covariance(features.cpu(), means.cpu())
