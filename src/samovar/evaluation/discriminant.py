"""Linear discriminant analysis of many tasks at once, for supports that are smaller than the space.

Every class is a Gaussian around its mean, with one covariance for all, which is shrunk towards a
multiple of the identity by the share that Ledoit and Wolf derive. With residuals R (S, d) of the
support from its class means, W = R / sqrt(S) and the shrinkage g,

    covariance = a W'W + b I,     a = 1 - g,     b = g tr(W'W) / d

A support of 25 images has no covariance of 1280 x 1280 worth forming. By Woodbury's identity

    x' covariance^-1 x = (|x|^2 - a |z|^2) / b,     z = L^-1 W x,     L L' = b I + a W W'

needs S x S numbers only. With equal shrinkage this is scikit-learn's, which solves d x d systems.
"""

import torch
from torch import Tensor

LEAST_SHRINKAGE = 1e-3
"""Without any, directions that the support does not show would have no variance at all."""
SMALLEST = 1e-12
"""Variances below are rounding, of features of length 1."""


def discriminant_logits(
    support: Tensor, labels: Tensor, query: Tensor, class_means: Tensor
) -> Tensor:
    """Return the log density of each query under each class, up to a constant of the task.

    Shapes: support (T, S, d), labels (T, S), query (T, Q, d), means (T, N, d) -> (T, Q, N).
    """
    own_means = class_means.gather(1, labels[..., None].expand(support.shape))
    residuals = (support - own_means) / support.shape[1] ** 0.5  # W
    gram = residuals @ residuals.mT
    shrinkage = ledoit_wolf_shrinkage(gram, support.shape[2]).clamp(LEAST_SHRINKAGE, 1)
    mean_variance = _mean_variance(gram, support)
    kept = (1 - shrinkage)[:, None, None]  # a
    added = (shrinkage * mean_variance)[:, None, None]  # b
    identity = torch.eye(gram.shape[1], dtype=gram.dtype, device=gram.device)
    factor = torch.linalg.cholesky(added * identity + kept * gram)
    by_query = torch.linalg.solve_triangular(factor, residuals @ query.mT, upper=False)
    by_class = torch.linalg.solve_triangular(factor, residuals @ class_means.mT, upper=False)
    plain = torch.cdist(query, class_means).square()
    explained = torch.cdist(by_query.mT, by_class.mT).square()
    return -(plain - kept * explained) / (2 * added)


def ledoit_wolf_shrinkage(gram: Tensor, dimensions: int) -> Tensor:
    """Return the shrinkage (T,) by Ledoit and Wolf (2004), from W W' (T, S, S) alone."""
    images = gram.shape[1]
    norms = gram.diagonal(dim1=1, dim2=2)
    mean_variance = norms.sum(1) / dimensions
    squared_norm = gram.square().sum((1, 2))
    scatter = (images * norms.square().sum(1) - squared_norm) / (dimensions * images)
    distance = squared_norm / dimensions - mean_variance.square()
    share = torch.minimum(scatter, distance) / distance
    # Residuals of a single image each are all zero, and so is the distance.
    return torch.where(distance > 0, share, torch.ones_like(share)).clamp(0, 1)


def _mean_variance(gram: Tensor, support: Tensor) -> Tensor:
    """Return tr(W'W) / d of each task, (T,).

    With one image of each class there is no variance within classes; that of the whole support
    stands in, and the classes are told apart by distance alone.
    """
    within = gram.diagonal(dim1=1, dim2=2).sum(1)
    total = (support - support.mean(1, keepdim=True)).square().sum((1, 2)) / support.shape[1]
    # Of copies of one image even the whole has none, and sums of rounding errors are none either.
    total = total.clamp(min=SMALLEST)
    is_there = within > SMALLEST * total
    return torch.where(is_there, within, total) / support.shape[2]
