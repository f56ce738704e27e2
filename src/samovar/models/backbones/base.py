"""What all our feature extractors f have in common."""

from collections.abc import Sequence

import torch
from torch import Tensor, nn

from samovar.models.task_embedding import Film


class Backbone(nn.Module):
    """A feature extractor f: images (groups * n, C, H, W) -> features (groups * n, d).

    A group is the support or the query set of one task. A subclass sets `feature_dim` (d) and,
    where TEN can condition it, `film_widths`: the channels of each convolution, in order. A
    subclass with layers also needs an `initialization` (see `samovar.models.initialization`).
    """

    feature_dim: int
    film_widths: Sequence[int] = ()

    def forward(
        self,
        x: Tensor,
        groups: int = 1,
        films: Sequence[Film] | None = None,
        noise: Sequence[torch.Generator] | None = None,
    ) -> Tensor:
        """Embed images (groups * n, C, H, W).

        `films` are TEN's, one for each of `film_widths`. `noise` has one generator for each group,
        from which dropout draws in training.
        """
        raise NotImplementedError


class Identity(Backbone):
    """Ready-made feature vectors: f(x) = x."""

    def __init__(self, feature_dim: int) -> None:
        super().__init__()
        self.feature_dim = feature_dim

    def forward(
        self,
        x: Tensor,
        groups: int = 1,
        films: Sequence[Film] | None = None,
        noise: Sequence[torch.Generator] | None = None,
    ) -> Tensor:
        """Return the vectors as they are."""
        del groups, films, noise
        return x
