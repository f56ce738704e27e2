"""Held-out images of a task's classes, without copies of those that it was fitted to."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from torch import Tensor

from samovar.classifier.answer import AnswerParameters, probabilities_of
from samovar.classifier.copies import with_checksum
from samovar.classifier.known_scores import KnownScores
from samovar.classifier.loading import Fitted
from samovar.classifier.support_names import SupportNames
from samovar.classifier.user_inputs import UserInputs
from samovar.data.images.image_file import ImageFile
from samovar.encoders.image_sources import ImageList
from samovar.errors import DataError


@dataclass(frozen=True)
class Unseen:
    """Images that the task has not seen, as its model takes them."""

    inputs: list[Tensor]
    labels: list[Any]
    copies: int
    """How many were left out, because the task was fitted to them."""

    def scores(self, fitted: Fitted, parameters: AnswerParameters) -> KnownScores:
        """Return how badly its own label fits each image."""
        if not self.inputs:
            raise DataError(
                "There is no image to calibrate with: all are unreadable, or were used to fit the "
                "task. Give other images of its classes."
            )
        probabilities = probabilities_of(fitted.predict(self.inputs, parameters))
        return KnownScores.of(probabilities, self.labels, fitted.task.classes)


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
