"""How probable it is that a label is wrong, from what the other images say of its image.

Labels are given with an error rate e: with probability 1 - e the true class, and otherwise any of
the others. If p are the probabilities of an image's classes without its own label, then the label y
is wrong with the probability

    q = e / (N - 1) (1 - p_y) / (e / (N - 1) (1 - p_y) + (1 - e) p_y)

The rate e is estimated from all images together, by expectation maximisation with a prior that
expects few errors: in a folder without any, nearly nothing is suspected, even where classes are
hard to tell apart.
"""

import torch
from torch import Tensor

PRIOR_ERRORS = 0.5
PRIOR_IMAGES = 10.0
"""What is believed of the error rate beforehand is worth so many images with so many errors."""
FIRST_RATE = 0.05
ROUNDS = 100
CLOSE = 1e-6


def wrong_label_probabilities(probabilities: Tensor, labels: Tensor, able: Tensor) -> Tensor:
    """Return q of each image, (n,); zero where nothing can be said.

    Args:
        probabilities: p, (n, N).
        labels: The number of the given class of each, (n,).
        able: Whether p says something of the image, (n,): its class must have another one.
    """
    result = torch.zeros(len(labels), dtype=torch.float64)
    way = probabilities.shape[1]
    if way < 2 or not able.any():
        return result
    of_label = probabilities.double().gather(1, labels[:, None])[:, 0][able]
    rate = FIRST_RATE
    for _ in range(ROUNDS):
        wrong = rate / (way - 1) * (1 - of_label)
        right = (1 - rate) * of_label
        found = wrong / (wrong + right).clamp(min=1e-300)
        new = float((found.sum() + PRIOR_ERRORS) / (len(found) + PRIOR_IMAGES))
        if abs(new - rate) < CLOSE:
            break
        rate = new
    result[able] = found
    return result
