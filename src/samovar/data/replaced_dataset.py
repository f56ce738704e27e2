"""A split whose images are replaced by something else that was made of each of them."""

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from samovar.data.dataset import Dataset, Indices


def image_indices(dataset: Dataset) -> Indices:
    """Return the indices of all images of a split, sorted."""
    spans = zip(dataset.starts, dataset.counts, strict=True)
    return np.sort(np.concatenate([start + np.arange(count) for start, count in spans]))


class ReplacedDataset(Dataset):
    """The same classes and indices as a data set, so the same tasks, with other content.

    Another model may need the images in another size, or as vectors of its encoder.
    """

    def __init__(self, dataset: Dataset, content: NDArray[np.generic]) -> None:
        """Take the content of the images at `image_indices(dataset)`, in this order."""
        super().__init__(
            dataset.store, dataset.split_name, scheme=dataset.scheme, rotations=dataset.rotations
        )
        self._indices = image_indices(dataset)
        self._content = torch.from_numpy(content)

    def gather(self, indices: Indices) -> Tensor:
        """Return the content for these indices, (*indices.shape, ...)."""
        rows = torch.from_numpy(np.searchsorted(self._indices, indices.reshape(-1)))
        content = self._content[rows]
        return content.view(*indices.shape, *content.shape[1:])
