"""What leave-one-out tells a user: how often the others are right about an image, and where not.

The mathematics is in `samovar.prediction.left_out_support`, and for the closed form in the model.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from torch import Tensor

from samovar.classifier.known_scores import KnownScores


@dataclass(frozen=True)
class Mistake:
    """A support image that the others answer wrongly."""

    position: int
    """Where it stands in the support, in the order of fitting."""
    label: Any
    answer: Any


@dataclass(frozen=True)
class LeaveOneOut:
    """How well support images are classified by the others."""

    images: int
    accuracy: float
    rejected: float | None
    """The share that is rejected; None where rejection is off."""
    wrong: tuple[Mistake, ...] = ()
    """The images that are answered wrongly; not known of a task that was read from a file."""
    scores: KnownScores | None = None
    """How badly its own label fits each; of models whose task files keep no vectors."""

    def to_json(self) -> dict[str, Any]:
        """Return the numbers, in the order of task files."""
        return {"images": self.images, "accuracy": self.accuracy, "rejected": self.rejected}


def mistakes(
    classes: Sequence[Any], positions: Sequence[int], numbers: Tensor, answers: Tensor
) -> tuple[Mistake, ...]:
    """Return the images whose answer is not the number of their own class.

    >>> import torch
    >>> mistakes("ab", [4, 7], torch.tensor([0, 1]), torch.tensor([0, 0]))
    (Mistake(position=7, label='b', answer='a'),)
    """
    wrong = []
    truths = numbers.tolist()
    for position, number, answer in zip(positions, truths, answers.tolist(), strict=True):
        if answer != number:
            wrong.append(Mistake(position, classes[number], classes[answer]))
    return tuple(wrong)
