"""One part of a store (train, val or test) as training and evaluation see it: classes, and images by index."""

import hashlib
import json
from collections.abc import Sequence

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from samovar.data.store import Store

Indices = NDArray[np.int64]


class Dataset:
    """The classes of a split. Class c has the images starts[c] .. starts[c] + counts[c] - 1.

    With `rotations`, every class turned by 90, 180 and 270 degrees is a new class (Omniglot's custom): image i turned r
    times has the index r * (images in the store) + i, and is turned when it is gathered.
    """

    def __init__(
        self,
        store: Store,
        split: str = "train",
        *,
        scheme: str | None = None,
        rotations: bool = False,
    ) -> None:
        self.store, self.split_name, self.scheme, self.rotations = store, split, scheme, rotations
        positions = store.split(split, scheme)
        first = np.concatenate([[0], np.cumsum([entry.count for entry in store.classes])])
        turns = 4 if rotations else 1
        names = [store.classes[position].name for position in positions]
        self.class_names: Sequence[str] = [
            f"{name} turned {90 * turn}" if turn else name
            for turn in range(turns)
            for name in names
        ]
        self.counts: Indices = np.tile(
            [store.classes[position].count for position in positions], turns
        ).astype(np.int64)
        offsets = np.repeat(np.arange(turns) * len(store.array), len(positions))
        self.starts: Indices = np.tile(first[positions], turns).astype(np.int64) + offsets

    def part(self, split: str) -> "Dataset":
        """Another part of the same data."""
        return Dataset(self.store, split, scheme=self.scheme, rotations=self.rotations)

    def __len__(self) -> int:
        """The number of classes."""
        return len(self.counts)

    @property
    def description(self) -> str:
        """Name and part, with what is missing of the official data."""
        partial = f", partial: {self.store.partial}" if self.store.partial else ""
        other = self.scheme not in (None, next(iter(self.store.facts["splits"])))
        split = f"{self.split_name} of {self.scheme}" if other else self.split_name
        return f"{self.store.name} ({split}, {len(self)} classes{partial})"

    @property
    def identity(self) -> str:
        """Which images these are, and of which classes."""
        told = [self.store.facts["checksum"], list(self.class_names)]
        return hashlib.sha256(json.dumps(told).encode()).hexdigest()

    def gather(self, indices: Indices) -> Tensor:
        """Images (*indices.shape, H, W, C) uint8, or features (*indices.shape, d), in one indexed read."""
        turns, rows = np.divmod(indices.reshape(-1), len(self.store.array))
        images = torch.from_numpy(self.store.array[rows])
        for turn in np.unique(turns[turns > 0]):
            members = torch.from_numpy(np.flatnonzero(turns == turn))
            images[members] = images[members].rot90(int(turn), (1, 2))
        return images.view(*indices.shape, *images.shape[1:])
