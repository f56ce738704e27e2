"""Near-duplicates: images that show the same picture, by their vectors and by small grey versions.

Two images are duplicates if their features point in nearly the same direction (a burst, a crop, a
mirrored copy), or if they look the same at 16 x 16 pixels and their features agree (another size,
another compression). The limits were chosen on Caltech-101, whose own duplicates they find, and
`benchmarks/check.py` measures them on other collections.
"""

import numpy as np
import torch
from numpy.typing import NDArray
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components
from torch import Tensor

SAME_FEATURES = 0.96
"""The cosine of features from which images are duplicates."""
LIKE_FEATURES = 0.7
"""The cosine that duplicates have at least, if they look the same."""
SAME_LOOK = 0.975
"""The correlation of grey versions from which images look the same."""
BLOCK = 1024
"""Images that are compared with all others at once."""


def near_duplicates(
    features: Tensor, looks: NDArray[np.float32] | None = None
) -> list[tuple[int, ...]]:
    """Return the positions of images that are duplicates of each other, group by group.

    Args:
        features: Of unit length, (n, d).
        looks: Grey versions with mean 0 and length 1, (n, pixels), where the images are at hand.
    """
    firsts: list[Tensor] = []
    seconds: list[Tensor] = []
    for start in range(0, len(features), BLOCK):
        rows = features[start : start + BLOCK]
        cosines = rows @ features.T
        same = cosines >= SAME_FEATURES
        if looks is not None:
            correlations = torch.from_numpy(looks[start : start + BLOCK] @ looks.T)
            same |= (correlations >= SAME_LOOK) & (cosines >= LIKE_FEATURES)
        first, second = torch.nonzero(same, as_tuple=True)
        firsts.append(first + start)
        seconds.append(second)
    if not firsts:
        return []
    pairs = (torch.cat(firsts).numpy(), torch.cat(seconds).numpy())
    graph = coo_array((np.ones(len(pairs[0]), bool), pairs), shape=(len(features),) * 2)
    _, groups = connected_components(graph, directed=False)
    members: dict[int, list[int]] = {}
    for position, group in enumerate(groups.tolist()):
        members.setdefault(group, []).append(position)
    return [tuple(positions) for positions in members.values() if len(positions) > 1]
