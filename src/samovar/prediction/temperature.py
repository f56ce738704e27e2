"""One temperature for all logits, fitted on validation tasks: the usual repair of probabilities, to compare with."""

import math

import torch
from torch import Tensor

from samovar.prediction.predictive import Prediction, entropy_of


def fit_temperature(logits: Tensor, labels: Tensor) -> float:
    """The T that minimises the mean NLL of softmax(logits / T); logits (n, N), labels (n,).

    The loss is convex in u = 1 / T with slope mean(E_p[z] - z_label), so its zero is found by bisection.

    >>> fit_temperature(torch.tensor([[3.0, 0.0]] * 4), torch.tensor([0, 0, 0, 1]))  # log 3 would be right for 3 of 4
    2.73...
    """
    z = logits.cpu().double()  # not every device has float64
    at_label = z.gather(-1, labels.cpu()[:, None]).squeeze(-1)
    low, high = -7.0, 7.0  # log u: temperatures from e^-7 to e^7
    for _ in range(50):
        middle = (low + high) / 2
        slope = ((torch.softmax(z * math.exp(middle), -1) * z).sum(-1) - at_label).mean()
        low, high = (low, middle) if slope > 0 else (middle, high)
    return math.exp(-(low + high) / 2)


def log_probabilities(prediction: Prediction) -> Tensor:
    """What a temperature divides: the log of the (averaged) probabilities, which are logits as good as any."""
    return prediction.probabilities.clamp(min=torch.finfo(torch.float32).tiny).log()


def tempered(prediction: Prediction, temperature: float) -> Prediction:
    """The prediction at a temperature; mutual information is not defined for it."""
    probabilities = (log_probabilities(prediction) / temperature).softmax(-1)
    return Prediction(probabilities, entropy_of(probabilities))
