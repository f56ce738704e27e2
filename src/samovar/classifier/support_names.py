"""What a task remembers of the files of its support images: names and checksums, no pixels.

With the names, `samovar fit` and `samovar task` say which images the others answer wrongly; with
the checksums, an image that is added twice is noticed. Tasks that were fitted to arrays, and tasks
of earlier versions, have neither.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from samovar.classifier.leave_one_out import LeaveOneOut
from samovar.errors import DataError

LABEL_TYPES = (str, int, float, bool)
DIGEST = 16
"""Hexadecimal digits of a checksum that are kept: enough to tell a user's own images apart."""
LONGEST_NAME = 4096
MOST_WRONG = 200
"""Wrong answers that a task file keeps; leave-one-out of most models looks at no more images."""


@dataclass(frozen=True)
class WrongImage:
    """A support image that the others answer wrongly."""

    image: Any
    """Its file name, or its position where that is not known."""
    label: Any
    answer: Any

    def to_json(self) -> dict[str, Any]:
        """Return the form of task files and of `--json`."""
        return {"image": self.image, "label": self.label, "answer": self.answer}


@dataclass(frozen=True)
class SupportNames:
    """The files of the support images, in the order in which they were fitted."""

    names: tuple[str, ...]
    """Paths without the folders that all images share."""
    labels: tuple[Any, ...]
    digests: tuple[str, ...]
    """The beginnings of the SHA-256 of the files."""
    wrong: tuple[WrongImage, ...] = ()
    """Those that leave-one-out has found."""

    def __add__(self, other: "SupportNames") -> "SupportNames":
        return SupportNames(
            self.names + other.names, self.labels + other.labels, self.digests + other.digests
        )

    def at(self, positions: Sequence[int]) -> "SupportNames":
        """Return the images at some positions."""
        return SupportNames(
            tuple(self.names[position] for position in positions),
            tuple(self.labels[position] for position in positions),
            tuple(self.digests[position] for position in positions),
        )

    def with_wrong(self, measured: LeaveOneOut | None) -> "SupportNames":
        """Return the names together with what leave-one-out has found."""
        return replace(self, wrong=tuple(wrong_images(measured, self.names)[:MOST_WRONG]))

    def to_json(self) -> dict[str, Any]:
        """Return the form of a task file."""
        return {
            # The end of a path says most; archives may have names of any length.
            "names": [name[-LONGEST_NAME:] for name in self.names],
            "labels": list(self.labels),
            "digests": list(self.digests),
            "wrong": [image.to_json() for image in self.wrong],
        }

    @classmethod
    def from_json(cls, stored: Any, counts: Mapping[Any, int]) -> "SupportNames":
        """Read the form of a task file, which is not trusted; `counts` has its images by class."""
        if not isinstance(stored, dict) or set(stored) != {"names", "labels", "digests", "wrong"}:
            raise DataError("the names of its images are not those of this version")
        names = _texts(stored["names"], LONGEST_NAME)
        digests = _texts(stored["digests"], DIGEST)
        labels = stored["labels"]
        if not isinstance(labels, list) or not set(map(type, labels)) <= set(LABEL_TYPES):
            raise DataError("the classes of its images are neither text nor numbers")
        if len(names) != len(labels) or len(digests) != len(labels) or Counter(labels) != counts:
            raise DataError("it does not have a name for each of its images")
        return cls(names, tuple(labels), digests, _wrong(stored["wrong"]))


def wrong_images(
    measured: LeaveOneOut | None, names: Sequence[str] | None = None
) -> list[WrongImage]:
    """Return the support images that the others answer wrongly, by name where names are known."""
    if measured is None:
        return []
    wrong = []
    for mistake in measured.wrong:
        image: Any = mistake.position
        if names is not None:
            image = names[mistake.position]
        wrong.append(WrongImage(image, mistake.label, mistake.answer))
    return wrong


def _texts(stored: Any, longest: int) -> tuple[str, ...]:
    if not isinstance(stored, list):
        raise DataError("the names of its images are not a list")
    for text in stored:
        if not isinstance(text, str) or len(text) > longest:
            raise DataError("the names of its images are not texts")
    return tuple(stored)


def _wrong(stored: Any) -> tuple[WrongImage, ...]:
    if not isinstance(stored, list) or len(stored) > MOST_WRONG:
        raise DataError("its leave-one-out answers are not a list")
    wrong = []
    for image in stored:
        if not isinstance(image, dict) or set(image) != {"image", "label", "answer"}:
            raise DataError("its leave-one-out answers are not those of this version")
        for value in image.values():
            if type(value) not in LABEL_TYPES:
                raise DataError("its leave-one-out answers are neither text nor numbers")
        wrong.append(WrongImage(**image))
    return tuple(wrong)
