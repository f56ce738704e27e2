"""One split of a store, as training and evaluation see it: classes, and images by index."""

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

    With `rotations`, every class turned by 90, 180 and 270 degrees is a new class, as is the custom
    for Omniglot: image i turned r times has the index r * (images in the store) + i, and is turned
    when it is gathered.
    """

    def __init__(
        self,
        store: Store,
        split: str = "train",
        *,
        scheme: str | None = None,
        rotations: bool = False,
    ) -> None:
        self.store = store
        self.split_name = split
        self.scheme = scheme
        self.rotations = rotations
        positions = store.split(split, scheme)
        classes = [store.classes[position] for position in positions]
        turns = 4 if rotations else 1
        names = []
        for turn in range(turns):
            for entry in classes:
                names.append(f"{entry.name} turned {90 * turn}" if turn else entry.name)
        self.class_names: Sequence[str] = names
        counts = [entry.count for entry in classes]
        self.counts: Indices = np.tile(counts, turns).astype(np.int64)
        # A turn is encoded in the index: turned images come after all images of the store.
        offsets = np.repeat(np.arange(turns) * len(store.array), len(classes))
        self.starts: Indices = np.tile(store.starts[positions], turns).astype(np.int64) + offsets

    def part(self, split: str) -> "Dataset":
        """Return another split of the same data, by the same scheme."""
        return Dataset(self.store, split, scheme=self.scheme, rotations=self.rotations)

    def __len__(self) -> int:
        """Return the number of classes."""
        return len(self.counts)

    @property
    def description(self) -> str:
        """Name, split and number of classes, and how much of the official data is missing."""
        split = self.split_name
        if self.scheme not in (None, self.store.default_scheme):
            split = f"{split} of {self.scheme}"
        description = f"{split}, {len(self)} classes"
        if self.store.partial:
            description += f", partial: {self.store.partial}"
        return f"{self.store.name} ({description})"

    @property
    def identity(self) -> str:
        """A hash of the images and the names of the classes."""
        facts = [self.store.facts["checksum"], list(self.class_names)]
        return hashlib.sha256(json.dumps(facts).encode()).hexdigest()

    def gather(self, indices: Indices) -> Tensor:
        """Return the images or features at these indices, in one indexed read.

        Images are (*indices.shape, H, W, C) uint8, features (*indices.shape, d) float32.
        """
        # The copy made here is ours to turn; the store's array is read-only.
        turns, rows = np.divmod(indices.reshape(-1), len(self.store.array))
        images = torch.from_numpy(self.store.array[rows])
        for turn in np.unique(turns[turns > 0]):
            members = torch.from_numpy(np.flatnonzero(turns == turn))
            images[members] = images[members].rot90(int(turn), (1, 2))
        return images.view(*indices.shape, *images.shape[1:])
