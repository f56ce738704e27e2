"""Held-out images of a task's classes, without copies of those that it was fitted to."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from torch import Tensor

from samovar.classifier.answer import AnswerParameters, probabilities_of
from samovar.classifier.copies import with_checksum
from samovar.classifier.fitted_regression import FittedRegression
from samovar.classifier.known_scores import KnownScores
from samovar.classifier.loading import Fitted
from samovar.classifier.support_names import SupportNames
from samovar.classifier.user_inputs import UserInputs
from samovar.data.images.image_file import ImageFile
from samovar.encoders.image_sources import ImageList
from samovar.errors import DataError


def calibrated(
    fitted: Fitted, inputs: list[Tensor], labels: list[Any], parameters: AnswerParameters
) -> Fitted:
    """Return a task whose sets are made by held-out images."""
    if not inputs:
        raise DataError(
            "There is no image to calibrate with: all are unreadable, or were used to fit the "
            "task. Give other images of its classes."
        )
    if isinstance(fitted, FittedRegression):
        _check_unseen(inputs, fitted)
    probabilities = probabilities_of(fitted.predict(inputs, parameters))
    known = KnownScores.of(probabilities, labels, fitted.task.classes)
    return replace(fitted, held_out=known)


def _check_unseen(inputs: list[Tensor], fitted: FittedRegression) -> None:
    """Refuse images of the support, on which nothing can be measured."""
    support = {vector.numpy().tobytes() for vector in fitted.task.vectors}
    seen = sum(vector.float().numpy().tobytes() in support for vector in inputs)
    if seen:
        raise DataError(
            f"{seen} of {len(inputs)} images for calibration are among those that the task was "
            "fitted to, so sets would promise too much. Give other images."
        )


@dataclass(frozen=True)
class Unseen:
    """Images that the task has not seen, as its model takes them."""

    inputs: list[Tensor]
    labels: list[Any]
    copies: int
    """How many were left out, because the task was fitted to them."""


@dataclass(frozen=True)
class HeldOut:
    """Labelled image files, whose checksums are noted while they are read."""

    files: list[ImageFile]
    labels: list[Any]
    digests: dict[str, str]
    seen: frozenset[str]
    """The checksums of the task's own images, where they are known."""

    @classmethod
    def of(
        cls, listed: ImageList, support: SupportNames | None, classes: Sequence[Any]
    ) -> "HeldOut":
        """Return the images of a list; folders that are no class of the task are refused."""
        # Folders have names; classes of a task that was fitted in Python may be numbers.
        by_name = {str(label): label for label in classes}
        unknown = {image.label for image in listed.images} - set(by_name)
        if unknown:
            raise DataError(
                f"The task has no class {min(unknown)!r}. Held-out images must be of classes of "
                "the task: remove the other folders."
            )
        digests: dict[str, str] = {}
        files = [with_checksum(image.file, digests) for image in listed.images]
        labels = [by_name[image.label] for image in listed.images]
        seen: frozenset[str] = frozenset()
        if support is not None:
            seen = frozenset(support.digests)
        return cls(files, labels, digests, seen)

    def unseen(self, read: UserInputs) -> Unseen:
        """Return what was read without copies of the task's own images."""
        inputs = []
        labels = []
        for file, image, position in zip(read.files, read.inputs, read.positions, strict=True):
            if self.digests.get(file.name) in self.seen:
                continue
            inputs.append(image)
            labels.append(self.labels[position])
        return Unseen(inputs, labels, len(read.files) - len(inputs))
