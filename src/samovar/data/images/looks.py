"""What a user's images look like, judged by a few of them: photographs, or ink on paper."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from samovar.data.store import Store

LOOKED_AT = 64
"""Images by which a data set is judged, one of each class."""
COLOURED = 8.0
"""Mean difference of the channels, of 255, above which images are coloured; in grey images that
are stored in colour it is 0."""
EXTREME = 24
"""Values that are nearer than this to black or to white are those of ink and paper."""
MOSTLY = 0.7
"""The share of such values above which an image is drawn."""


@dataclass(frozen=True)
class Looks:
    """What images look like."""

    coloured: bool
    drawn: bool
    """Mostly black and white, like ink on paper."""
    bright: bool
    """Brighter than middle grey on average, like white paper."""

    @property
    def photographic(self) -> bool:
        """Whether they are colour photographs, as far as can be told."""
        return self.coloured and not self.drawn


def looks_of(images: NDArray[np.uint8]) -> Looks:
    """Judge images (n, H, W, C).

    >>> looks_of(np.full((1, 8, 8, 3), 255, np.uint8))
    Looks(coloured=False, drawn=True, bright=True)
    """
    values = images.astype(np.int16)
    differences = values.max(-1) - values.min(-1)
    extreme = (values < EXTREME) | (values > 255 - EXTREME)
    return Looks(
        coloured=bool(differences.mean() > COLOURED),
        drawn=bool(extreme.mean() > MOSTLY),
        bright=bool(values.mean() > 127),
    )


def looks_of_store(store: Store) -> Looks | None:
    """Judge the first image of each class of a store; None if it holds vectors."""
    if len(store.facts["shape"]) != 3:
        return None
    return looks_of(store.array[store.starts[:-1][:LOOKED_AT]])
