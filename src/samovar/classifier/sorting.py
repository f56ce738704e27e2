"""Which folder each photo belongs into: that of its class, "none of these", or "unsure"."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from samovar.classifier.answer import Answer
from samovar.core.filing import free_name
from samovar.core.text import printable

UNSURE = "unsure"
LONGEST_NAME = 200
"""Bytes of a folder's name; most file systems take 255."""
FORBIDDEN = '/\\:*?"<>|'
"""Characters that lead elsewhere, or that some file systems do not take."""


@dataclass(frozen=True)
class Folders:
    """The names of the folders: those of the classes in order, and the two others."""

    classes: tuple[str, ...]
    none: str
    unsure: str

    @classmethod
    def of(cls, classes: Sequence[Any], none: Any) -> "Folders":
        """Name a folder after each class; no two share one, and none leads elsewhere.

        >>> Folders.of(["cat", "../cat", "unsure"], "none of these")
        Folders(classes=('cat', '_._cat', 'unsure'), none='none of these', unsure='unsure (2)')
        """
        taken: set[str] = set()
        names = []
        for label in (*classes, none, UNSURE):
            name = free_name(folder_name(str(label)), taken)
            taken.add(name.casefold())
            names.append(name)
        return cls(tuple(names[:-2]), names[-2], names[-1])

    @property
    def all(self) -> tuple[str, ...]:
        """All names."""
        return (*self.classes, self.none, self.unsure)

    def chosen(
        self, answer: Answer, least: float, sets: NDArray[np.bool_] | None = None
    ) -> list[str]:
        """Return the folder of each image.

        Args:
            answer: To the images.
            least: An answer that is less probable is unsure.
            sets: Their prediction sets (n, classes), if they are to decide: an image whose set is
                empty is none of these, and one whose set has several classes is unsure.
        """
        best = answer.probabilities.argmax(1)
        sizes = np.ones(len(best))
        if sets is not None:
            sizes = sets.sum(1)
        names = []
        for number, position in enumerate(best.tolist()):
            if answer.rejected[number] or sizes[number] == 0:
                names.append(self.none)
            elif answer.probabilities[number, position] < least or sizes[number] > 1:
                names.append(self.unsure)
            else:
                names.append(self.classes[position])
        return names


def folder_name(label: str) -> str:
    """Return the name of a class as that of one visible folder: a task file may come from anyone.

    >>> folder_name("a/b"), folder_name(".."), folder_name("")
    ('a_b', '_.', '_')
    """
    name = "".join("_" if character in FORBIDDEN else character for character in printable(label))
    name = name.strip()
    if not name or name.startswith("."):
        name = f"_{name[1:]}"
    # Half a character may be left at the end.
    return name.encode()[:LONGEST_NAME].decode(errors="ignore").strip()
