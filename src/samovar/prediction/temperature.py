"""One temperature for all logits, fitted on validation tasks: the usual calibration."""

import math

import torch
from torch import Tensor

from samovar.prediction.predictive import Prediction, entropy_of

WIDEST = 7.0
"""Temperatures from e^-7 to e^7 are searched."""


def fit_temperature(logits: Tensor, labels: Tensor) -> float:
    """Return the tau that minimises the mean NLL of softmax(logits / tau), for (n, N) and (n,).

    The loss is convex in u = 1 / tau with slope mean(E_p[z] - z_label), so the zero of the slope is
    found by bisection, over log u.

    >>> logits = torch.tensor([[3.0, 0.0]] * 4)
    >>> fit_temperature(logits, torch.tensor([0, 0, 0, 1]))  # 3 of 4: log 3 = 3 / tau
    2.73...
    """
    z = logits.cpu().double()  # not every device has float64
    at_label = z.gather(-1, labels.cpu()[:, None]).squeeze(-1)
    low = -WIDEST
    high = WIDEST
    for _ in range(50):  # halves the interval of 14 to 1e-14
        log_u = (low + high) / 2
        expected = (torch.softmax(z * math.exp(log_u), -1) * z).sum(-1)
        slope = (expected - at_label).mean()
        if slope > 0:
            high = log_u
        else:
            low = log_u
    return math.exp(-(low + high) / 2)


def log_probabilities(prediction: Prediction) -> Tensor:
    """Return the log of the averaged probabilities: logits that a temperature can divide."""
    # The log of zero is -inf, which no temperature could divide.
    return prediction.probabilities.clamp(min=torch.finfo(torch.float32).tiny).log()


def tempered(prediction: Prediction, temperature: float) -> Prediction:
    """Return the prediction at a temperature; mutual information is not defined for it."""
    probabilities = (log_probabilities(prediction) / temperature).softmax(-1)
    return Prediction(probabilities, entropy_of(probabilities))
