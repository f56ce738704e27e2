"""How far a query is from the classes of a task: what finds queries that belong to none of them."""

from torch import Tensor
from torch.nn import functional

from samovar.models.precision import full_precision


def cosine(features: Tensor, class_means: Tensor) -> Tensor:
    """The cosine between each query and each class mean; (..., Q, d), (..., N, d) -> (..., Q, N).

    By one product of matrices: torch's cosine_similarity would hold Q x N x d numbers.
    """
    with full_precision(features):
        directions = functional.normalize(features.float(), dim=-1)
        return directions @ functional.normalize(class_means.float(), dim=-1).mT


def nearest(cosines: Tensor) -> Tensor:
    """1 - the cosine of the nearest class, from 0 to 2 (rounding may pass either); (..., Q, N) -> (..., Q)."""
    return (1 - cosines.amax(-1)).clamp(0, 2)


def cosine_distance(features: Tensor, class_means: Tensor) -> Tensor:
    """1 - the cosine between a query and the nearest class mean, from 0 to 2; (..., Q, d), (..., N, d) -> (..., Q).

    The entropy of the predictive is the doubt *between* the classes: it is small for a query that is like none of them
    as long as one is the least unlike. Distance asks how unlike, and finds such queries better (docs/own_images.md).

    >>> import torch
    >>> cosine_distance(torch.tensor([[3.0, 0.0], [-1.0, 0.0]]), torch.tensor([[1.0, 0.0], [0.0, 1.0]]))
    tensor([0., 1.])
    """
    return nearest(cosine(features, class_means))
