"""What store.json says of a store, checked when it is opened.

A store that was prepared here is as `store_writer.py` left it. But the file may also have been
damaged, edited, or made by somebody else: every entry has its type, and the entries fit each other.
"""

from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

from samovar.core.stored_json import parse_json, read_bytes, seal
from samovar.errors import UnreadableError
from samovar.settings.checked import checked

FORMAT = 1
LARGEST_FACTS = 64_000_000
"""Bytes of store.json: 800,000 classes."""
LARGEST_SIDE = 10_000_000
"""Of an image in pixels, or of a vector in numbers."""


@dataclass(frozen=True)
class ClassEntry:
    """A class and its number of images, in the order of the array."""

    name: str
    count: int
    group: str | None = None
    """The alphabet, superclass or script of the class, if it has one."""


@dataclass(frozen=True)
class StoreFacts:
    """The content of store.json; `raw` has also what this version does not know."""

    name: str
    classes: tuple[ClassEntry, ...]
    splits: dict[str, dict[str, tuple[str, ...]]]
    """The classes of train, val and test by splitting scheme, the default first."""
    shape: tuple[int, ...]
    dtype: Literal["uint8", "float32"]
    mean: tuple[float, ...]
    std: tuple[float, ...]
    checksum: str
    title: str = ""
    licence: str = ""
    citation: str = ""
    options: dict[str, Any] = field(default_factory=dict)
    partial: str | None = None
    encoder: dict[str, Any] | None = None
    source_name: str | None = None
    inverted: bool = False
    resampling: Literal["bilinear", "lanczos"] = "bilinear"

    def check(self) -> None:
        """Refuse entries that do not fit each other."""
        names = {entry.name for entry in self.classes}
        if not names or len(names) < len(self.classes):
            raise UnreadableError("its classes are not distinct")
        if min(entry.count for entry in self.classes) < 1:
            raise UnreadableError("it has a class without images")
        if not self.shape or not all(1 <= side <= LARGEST_SIDE for side in self.shape):
            raise UnreadableError(f"its images have the shape {list(self.shape)}")
        if {len(self.mean), len(self.std)} != {self.shape[-1]} or min(self.std) < 0:
            raise UnreadableError("its mean and standard deviation do not fit its images")
        if not self.splits:
            raise UnreadableError("its classes are not divided into train, val and test")
        for scheme, splits in self.splits.items():
            _check_listed(scheme, splits.values(), names)


def _check_listed(scheme: str, splits: Iterable[tuple[str, ...]], names: set[str]) -> None:
    for listed in splits:
        unknown = set(listed) - names
        if unknown:
            raise UnreadableError(
                f"its split {scheme!r} lists {min(unknown)!r}, which is not one of its classes"
            )


def read_facts(path: Path) -> tuple[StoreFacts, dict[str, Any]]:
    """Return the content of store.json, typed and as it is written."""
    raw = parse_json(read_bytes(path, LARGEST_FACTS), dict[str, Any])
    stored_format = raw.get("format")
    if stored_format != FORMAT:
        raise UnreadableError(
            f"its format is {stored_format!r}, but this version of samovar reads format {FORMAT}"
        )
    if raw.get("seal") != seal(raw):
        raise UnreadableError("store.json was changed after it was prepared")
    facts = checked(StoreFacts, raw)
    facts.check()
    return facts, raw
