"""The classes that an image may well belong to: the one place where prediction sets are made."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray
from torch import Tensor

from samovar.classifier.sets import SetRequest, predict_sets
from samovar.errors import ModelError, SettingsError
from samovar.service.stored_task import StoredTask

CONFIDENCE = 0.9


def prediction_sets(
    task: StoredTask, inputs: Sequence[Tensor], probabilities: NDArray[np.float64]
) -> list[list[str] | None]:
    """Return the 90 % set of each image, the most probable class first.

    None where the examples cannot guarantee one: 90 % needs nine images whose class has another.

    Args:
        task: The task.
        inputs: The images as its model takes them.
        probabilities: Its answers to them, (n, classes).
    """
    none: list[list[str] | None] = [None] * len(probabilities)
    request = SetRequest(CONFIDENCE)
    try:
        sets = predict_sets(task.fitted, list(inputs), probabilities, request, task.info.parameters)
    except (ModelError, SettingsError):  # too few examples for this level
        return none
    if not sets.guaranteed:
        return none
    names = [str(label) for label in task.classes]
    return [*sets.listed(probabilities, names)]
