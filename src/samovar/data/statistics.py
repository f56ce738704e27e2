"""Mean and standard deviation of each channel, summed up class by class."""

from typing import Any

import numpy as np
from numpy.typing import NDArray


class ChannelStatistics:
    """Running mean and standard deviation of each channel.

    Only sums are kept, so that a data set of any size can be added class by class.
    """

    def __init__(self, channels: int) -> None:
        self.count = 0
        self.sum = np.zeros(channels)
        self.squares = np.zeros(channels)

    def add(self, array: NDArray[Any]) -> None:
        """Add images (n, H, W, C) or vectors (n, C)."""
        values = array.reshape(-1, array.shape[-1]).astype(np.float64)
        self.count += len(values)
        self.sum += values.sum(0)
        self.squares += np.square(values).sum(0)

    @property
    def mean(self) -> NDArray[np.float64]:
        """The mean of each channel, (C,); zero before anything was added."""
        return self.sum / max(1, self.count)

    @property
    def std(self) -> NDArray[np.float64]:
        """The standard deviation of each channel, (C,)."""
        mean_square = self.squares / max(1, self.count)
        # Rounding can make the variance of a constant channel slightly negative.
        return np.sqrt(np.maximum(mean_square - self.mean**2, 0))
