"""A part of a long encoding, kept in a file until the whole is done."""

import io
import json
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from samovar.core.stored_json import parse_json
from samovar.data.npz import read_npz
from samovar.errors import DataError, UnreadableError


@dataclass(frozen=True)
class Chunk:
    """Some images: the vectors of those that can be read, and why the others cannot."""

    features: NDArray[np.float32]
    reasons: list[str]
    """One for each image, empty for those that have a vector."""

    def to_bytes(self) -> bytes:
        """Return the content of a file that `read_chunk` reads."""
        buffer = io.BytesIO()
        reasons = json.dumps(self.reasons)
        np.savez(buffer, features=self.features, reasons=np.array(reasons))
        return buffer.getvalue()


def read_chunk(path: Path, images: int, length: int) -> Chunk | None:
    """Return a finished chunk; None if there is none, or if it is damaged."""
    try:
        arrays = read_npz(path, ("features", "reasons"))
        features = arrays["features"]
        reasons = parse_json(str(arrays["reasons"]), list[str])
        whole = len(reasons) == images and features.shape == (reasons.count(""), length)
        if whole and features.dtype == np.float32 and np.isfinite(features).all():
            return Chunk(features, reasons)
    except (OSError, KeyError, DataError, UnreadableError):
        return None
    return None
