"""Scores of images whose labels are known, by which prediction sets are made; in task files too."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated, Any

import msgspec
import numpy as np
from numpy.typing import NDArray

from samovar.errors import DataError, UnreadableError
from samovar.prediction.conformal import nonconformity
from samovar.settings.checked import checked

MOST_SCORES = 1_000_000
"""Of a task file."""
Score = Annotated[float, msgspec.Meta(ge=0, le=1)]
Number = Annotated[int, msgspec.Meta(ge=0)]


@dataclass(frozen=True)
class KnownScores:
    """How badly its own label fits each of m images, and the number of its class.

    >>> known = KnownScores.of(np.array([[0.9, 0.1], [0.25, 0.75]]), ["b", "b"], ("a", "b"))
    >>> known.scores, known.numbers
    ((0.9, 0.25), (1, 1))
    """

    scores: tuple[float, ...]
    numbers: tuple[int, ...]

    @classmethod
    def of(
        cls, probabilities: NDArray[np.float64], labels: Sequence[Any], classes: Sequence[Any]
    ) -> "KnownScores":
        """Score images by their probabilities (m, N); labels that are no class are refused."""
        position = {label: number for number, label in enumerate(classes)}
        unknown = [label for label in labels if label not in position]
        if unknown:
            raise DataError(
                f"The task has no class {unknown[0]!r}. Images for calibration must be of classes "
                f"of the task, but {len(unknown)} of {len(labels)} are not."
            )
        numbers = [position[label] for label in labels]
        scores = nonconformity(probabilities)[np.arange(len(numbers)), numbers]
        return cls(tuple(scores.tolist()), tuple(numbers))

    def __len__(self) -> int:
        return len(self.scores)

    def counts(self, way: int) -> NDArray[np.int64]:
        """Return the number of images of each class, (N,)."""
        return np.bincount(np.array(self.numbers, np.int64), minlength=way)

    def to_json(self) -> dict[str, Any]:
        """Return the form of a task file."""
        return {"scores": list(self.scores), "numbers": list(self.numbers)}

    @classmethod
    def from_json(cls, stored: dict[str, Any], way: int) -> "KnownScores":
        """Read the form of a task file with so many classes."""
        known = checked(_Stored, stored)
        whole = len(known.scores) == len(known.numbers) and 0 < len(known.scores) <= MOST_SCORES
        if not whole or max(known.numbers) >= way:
            raise UnreadableError("its scores do not fit its classes")
        return cls(known.scores, known.numbers)


@dataclass(frozen=True)
class _Stored:
    scores: tuple[Score, ...]
    numbers: tuple[Number, ...]
