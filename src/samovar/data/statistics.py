"""Mean and deviation of channels, added up class by class."""

from typing import Any

import numpy as np
from numpy.typing import NDArray


class Statistics:
    """Mean and standard deviation of each channel over the training classes."""

    def __init__(self, channels: int) -> None:
        self.count, self.sum, self.squares = 0, np.zeros(channels), np.zeros(channels)

    def add(self, array: NDArray[Any]) -> None:
        """Some more images or vectors, channels last."""
        values = array.reshape(-1, array.shape[-1]).astype(np.float64)
        self.count += len(values)
        self.sum += values.sum(0)
        self.squares += np.square(values).sum(0)

    @property
    def mean(self) -> NDArray[np.float64]:
        """Of each channel."""
        return self.sum / max(1, self.count)

    @property
    def std(self) -> NDArray[np.float64]:
        """Of each channel, about its mean."""
        return np.sqrt(np.maximum(self.squares / max(1, self.count) - self.mean**2, 0))
