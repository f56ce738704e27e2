"""Images that are in a user's support more than once, by the checksums of their files.

A copy within a class says nothing new and makes leave-one-out too hopeful, so it is used once. The
same image in two classes is a contradiction that only the user can solve: both stay, and are named.
"""

import hashlib
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from samovar.classifier.support_names import DIGEST, SupportNames
from samovar.data.images.image_file import ImageFile

NAMED = 3
"""Copies that a sentence names."""


@dataclass(frozen=True)
class Contradiction:
    """The same image in two classes."""

    first: str
    second: str


@dataclass(frozen=True)
class Copies:
    """What the checksums of a support tell."""

    kept: tuple[int, ...]
    """The positions of the images that are used."""
    repeated: tuple[tuple[str, str], ...]
    """Copies within a class that are not used, each with the image that it is a copy of."""
    known: int
    """How many images the task has already, in the same class."""
    contradictions: tuple[Contradiction, ...]


def with_checksum(file: ImageFile, digests: dict[str, str]) -> ImageFile:
    """Return a file that notes the checksum of its content under its name when it is read."""

    def read() -> bytes:
        content = file.read()
        digests[file.name] = hashlib.sha256(content).hexdigest()[:DIGEST]
        return content

    return replace(file, read=read)


def find_copies(images: SupportNames, earlier: SupportNames | None = None) -> Copies:
    """Compare images with each other, and with those of the task that they are added to.

    >>> names = SupportNames(("a/1", "a/2", "b/3"), ("a", "a", "b"), ("x", "x", "x"))
    >>> copies = find_copies(names)
    >>> copies.kept, copies.repeated, copies.contradictions
    ((0, 2), (('a/2', 'a/1'),), (Contradiction(first='a/1', second='b/3'),))
    """
    in_task = _by_content(earlier)
    seen = _by_content(None)
    kept: list[int] = []
    repeated: list[tuple[str, str]] = []
    contradictions: list[Contradiction] = []
    known = 0
    files = zip(images.names, images.labels, images.digests, strict=True)
    for position, (name, label, digest) in enumerate(files):
        if label in in_task[digest]:
            known += 1
        elif label in seen[digest]:
            repeated.append((name, seen[digest][label]))
        else:
            for other in [*in_task[digest].values(), *seen[digest].values()]:
                contradictions.append(Contradiction(other, name))
            seen[digest][label] = name
            kept.append(position)
    return Copies(tuple(kept), tuple(repeated), known, tuple(contradictions))


def _by_content(images: SupportNames | None) -> defaultdict[str, dict[Any, str]]:
    """Return the name of the first image of each class, by checksum."""
    by_content: defaultdict[str, dict[Any, str]] = defaultdict(dict)
    if images is not None:
        files = zip(images.names, images.labels, images.digests, strict=True)
        for name, label, digest in files:
            by_content[digest].setdefault(label, name)
    return by_content


def copy_notes(copies: Copies) -> list[str]:
    """Return sentences about images that are there more than once."""
    notes = []
    if copies.known:
        subject = "1 image was" if copies.known == 1 else f"{copies.known} images were"
        notes.append(f"{subject} left out: the task has the same already.")
    if copies.repeated:
        pairs = [f"{name} (as {first})" for name, first in copies.repeated]
        subject = "1 copy was" if len(pairs) == 1 else f"{len(pairs)} copies were"
        notes.append(f"{subject} left out: {_some(pairs)}.")
    if copies.contradictions:
        pairs = [f"{pair.first} and {pair.second}" for pair in copies.contradictions]
        notes.append(
            f"contradiction: the same image is in two classes: {_some(pairs)}. Remove the one that "
            "is wrong, and fit again."
        )
    return notes


def _some(texts: Sequence[str]) -> str:
    """Return the first of several texts, and how many there are besides."""
    text = ", ".join(texts[:NAMED])
    if len(texts) > NAMED:
        text += f", and {len(texts) - NAMED} more"
    return text
