"""Which images to label next: doubtful ones that tell much about the others, each something new.

A label of x takes variance away from every image x' of the heap. In a linear regression with
features f it is known beforehand how much, whatever the label will be:

    v(x') - v(x' | x) = k(x, x')^2 / (r + v(x)),    k the posterior covariance, v(x) = k(x, x)

Here r is a tenth of the ridge lambda: the labels that people give have less noise than the targets
of the regression, and who has seen a label need not see it again on a copy of the image.

The score of x is the sum of this over the heap, times how doubtful the answer to x is, which is
1 - (p1 - p2) of its two best classes. Images are chosen greedily, and k is conditioned on those
that are chosen: a copy of one has next to nothing left to tell. `benchmarks/next.py` compares this
with the mutual information of label and classifier (BALD), with least confidence, and with chance.
"""

from typing import NamedTuple

import torch
from torch import Tensor
from torch.nn import functional

from samovar.models.closed_form import Regression, unit_features

MOST_CANDIDATES = 4000
"""Images that are compared with each other; of a larger heap these are the most doubtful ones."""
LABEL_NOISE = 0.1
"""The noise of people's labels, relative to that of the regression's targets."""
USUAL_RIDGE = 0.2
"""The lambda of features that no regression was learned for."""


class Chosen(NamedTuple):
    """The images that were chosen, in order, with their scores when they were."""

    positions: Tensor
    scores: Tensor


def doubt_of(probabilities: Tensor) -> Tensor:
    """Return 1 - (p1 - p2) of the two most probable classes, (n,), from probabilities (n, N).

    With a single class there is no second, and all images are equally doubtful.
    """
    if probabilities.shape[1] < 2:
        return torch.ones(len(probabilities), dtype=torch.float64)
    best = probabilities.double().topk(2, dim=1).values
    return 1 - (best[:, 0] - best[:, 1])


def most_doubtful(doubt: Tensor) -> Tensor:
    """Return the positions of the images that are compared, in their own order."""
    if len(doubt) <= MOST_CANDIDATES:
        return torch.arange(len(doubt))
    return doubt.topk(MOST_CANDIDATES).indices.sort().values


@torch.no_grad()
def regression_covariance(regression: Regression, vectors: Tensor) -> tuple[Tensor, float]:
    """Return the posterior covariance k (n, n) of images with these vectors (n, d), and lambda."""
    ridge = float(regression.model.log_ridge(regression.shape).exp())
    spectrum = regression.spectrum
    centred = unit_features(vectors, regression.model.power) - spectrum.mean
    coordinates = centred @ spectrum.directions.T
    shrinkage = spectrum.values / (spectrum.values + ridge)
    return centred @ centred.T - (coordinates * shrinkage) @ coordinates.T, ridge


@torch.no_grad()
def feature_covariance(features: Tensor, means: Tensor) -> tuple[Tensor, float]:
    """Return the same for features (n, d) of any network, given only class means (N, d).

    Features are centred by the mean of the class means and scaled to length 1. The class means
    stand for the labelled images.
    """
    middle = means.double().mean(0)
    centred = functional.normalize(features.double() - middle, dim=1)
    known = functional.normalize(means.double() - middle, dim=1)
    inner = known @ known.T + USUAL_RIDGE * torch.eye(len(known), dtype=torch.float64)
    shared = centred @ known.T
    return centred @ centred.T - shared @ torch.linalg.solve(inner, shared.T), USUAL_RIDGE


def choose(doubt: Tensor, covariance: Tensor, ridge: float, count: int) -> Chosen:
    """Choose images one after the other, each given those before it.

    Args:
        doubt: How doubtful each image is, (n,).
        covariance: k, (n, n).
        ridge: lambda.
        count: How many to choose; all of them if there are fewer.
    """
    noise = LABEL_NOISE * ridge
    covariance = covariance.clone()
    positions: list[int] = []
    scores: list[float] = []
    for _ in range(min(count, len(doubt))):
        variance = covariance.diagonal().clamp(min=0)
        score = doubt * covariance.square().sum(0) / (noise + variance)
        score[positions] = -1.0  # no image is chosen twice
        best = int(score.argmax())
        positions.append(best)
        scores.append(float(score[best]))
        told = covariance[:, best].clone()
        covariance -= torch.outer(told, told / (noise + variance[best]))
    return Chosen(torch.tensor(positions, dtype=torch.int64), torch.tensor(scores))
