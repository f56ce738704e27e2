"""Which of many unlabelled images to label next: what the classifiers disagree about, and no twins.

The mutual information between an image's label and the weights says how much a label would teach.
Several images are chosen one after another, and each candidate's information is weighed by its
distance from those that are chosen already, so that two photographs of the same scene do not both
come first.
"""

from collections.abc import Sequence

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor
from torch.nn import functional

from samovar.classifier.answer import AnswerParameters
from samovar.classifier.loading import Fitted


def suggest(
    fitted: Fitted, inputs: Sequence[Tensor], count: int, parameters: AnswerParameters
) -> list[int]:
    """Return the positions of the images to label next, the most useful first."""
    prediction = fitted.predict(list(inputs), parameters)
    information = prediction.mutual_information
    if information is None:  # a single classifier cannot disagree with itself
        information = prediction.entropy
    return diverse(information[0].double().numpy(), _directions(inputs), count)


def diverse(
    information: NDArray[np.float64], directions: NDArray[np.float64], count: int
) -> list[int]:
    """Return positions by information (n,) and distance between directions (n, d), greedily.

    >>> diverse(np.array([3.0, 2.9, 1.0]), np.array([[1.0, 0.0], [1.0, 0.0], [0.0, 1.0]]), 2)
    [0, 2]
    """
    # Without any information, images that are unlike each other come first.
    worth = information + 1e-9
    apart = np.ones(len(worth))
    chosen: list[int] = []
    for _ in range(min(count, len(worth))):
        scores = worth * apart
        scores[chosen] = -1.0
        best = int(scores.argmax())
        chosen.append(best)
        apart = np.minimum(apart, 1 - directions @ directions[best])
        apart = apart.clip(min=0.0)
    return chosen


def _directions(inputs: Sequence[Tensor]) -> NDArray[np.float64]:
    """Return the direction of each image's vector, (n, d), of length one."""
    flat = torch.stack([image.flatten().double() for image in inputs])
    return functional.normalize(flat, dim=-1).numpy()
