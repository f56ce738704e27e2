"""Conformal sets: ranks of scores instead of trust in probabilities.

A nonconformity score says how badly a label fits an image: larger is worse. If a new image and m
scored ones are exchangeable, the rank of its score among all m + 1 is uniform, whatever the model
is. So the label of a new image has a p-value, (1 + the number of scores that are at least as large)
/ (m + 1), and it is at most alpha with a probability of at most alpha. The set of all labels whose
p-value is above alpha = 1 - confidence holds the true one with the asked confidence. No label may
be left: the image is then like none of the classes.

With m scores no p-value is below 1 / (m + 1): what that means for the levels that can be asked for
is in `check_level`.
"""

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from samovar.errors import SettingsError

ROUNDING = 1e-9
"""1 - 0.9 is a little less than 0.1; p-values are compared with this much tolerance."""

Scores = NDArray[np.float64]


def nonconformity(probabilities: Scores) -> Scores:
    """Return 1 - p for each image and label (n, N): the less probable, the worse it fits.

    It is computed as the sum of the other labels' probabilities. They are averages in float32, so
    that a p just below 1 is rounded to 1 or not by chance, and 1 - p would rank sure answers by
    this chance. The others are small, and keep their precision.
    """
    wide = np.asarray(probabilities, np.float64)
    return np.clip(wide.sum(1, keepdims=True) - wide, 0, 1)


def check_confidence(confidence: Any) -> float:
    """Return a confidence between 0 and 1, or refuse it."""
    is_number = isinstance(confidence, int | float | np.number) and not isinstance(confidence, bool)
    if not is_number or not 0 < confidence < 1:
        raise SettingsError(
            f"The confidence of sets must be between 0 and 1, such as 0.9, but is {confidence!r}."
        )
    return float(confidence)


def scores_needed(confidence: float) -> int:
    """Return the smallest number of scores that can support a confidence.

    >>> [scores_needed(confidence) for confidence in (0.8, 0.9, 0.95, 0.99)]
    [4, 9, 19, 99]
    """
    return max(1, math.ceil(1 / (1 - confidence) - 1 - ROUNDING))


def highest_confidence(scores: int) -> float:
    """Return the highest confidence that so many scores can support, m / (m + 1).

    >>> [highest_confidence(scores) for scores in (4, 9, 19)]
    [0.8, 0.9, 0.95]
    """
    return scores / (scores + 1)


def check_level(confidence: float, scores: int, what: str, remedy: str) -> None:
    """Refuse a confidence that so many scores cannot support, saying which they can.

    Args:
        confidence: The asked one.
        scores: How many scores there are; of the smallest class, if sets are made per class.
        what: What is counted, such as "support images that can be left out".
        remedy: What to do, as a sentence.
    """
    needed = scores_needed(confidence)
    if scores >= needed:
        return
    message = f"Sets of {_percent(confidence)} need {needed} {what}, but there are {scores}: "
    if scores:
        # Rounded down, so that what is named can be asked for.
        most = math.floor(1000 * highest_confidence(scores) + ROUNDING) / 10
        message += f"they support at most {most:g} %. "
    else:
        message += "they support no level at all. "
    raise SettingsError(message + remedy)


def _percent(confidence: float) -> str:
    return f"{100 * confidence:.6g} %"


def p_values(scores: Scores, known: Scores) -> Scores:
    """Return the p-value of each label of each image, (n, N), by known scores (m,).

    >>> p_values(np.array([[0.1, 0.5]]), np.array([0.2, 0.3, 0.4])).tolist()
    [[1.0, 0.25]]
    """
    smaller = np.searchsorted(np.sort(known), scores, side="left")
    return (1 + len(known) - smaller) / (1 + len(known))


def p_values_by_class(scores: Scores, known: Scores, numbers: NDArray[np.int64]) -> Scores:
    """Return p-values (n, N) of each label by the known scores of its own class only.

    `numbers` (m,) are the classes of the known scores.
    """
    columns = []
    for number in range(scores.shape[1]):
        columns.append(p_values(scores[:, number], known[numbers == number]))
    return np.stack(columns, 1)


def members(values: Scores, confidence: float) -> NDArray[np.bool_]:
    """Return which labels are in the set of each image, (n, N), by their p-values."""
    return values > 1 - confidence + ROUNDING


def listed_sets(
    chosen: NDArray[np.bool_], probabilities: Scores, labels: list[Any]
) -> list[list[Any]]:
    """Return the labels in each set, the most probable first."""
    sets = []
    for inside, row in zip(chosen, probabilities, strict=True):
        order = np.argsort(-row, kind="stable")
        sets.append([labels[number] for number in order if inside[number]])
    return sets
