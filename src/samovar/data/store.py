"""The store: a data set as one memory-mapped array, class after class, prepared once and checksummed.

A store is a folder with `data.npy` (images (n, H, W, C) uint8, or features (n, d) float32) and `store.json`. It is
written under another name and renamed when it is whole, so a folder with the right name is always a whole store.
"""

import hashlib
import json
import os
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from samovar.data.statistics import Statistics
from samovar.errors import DataError

FORMAT = 1
SPLITS = ("train", "val", "test")


@dataclass(frozen=True)
class ClassEntry:
    """A class in the order of the array."""

    name: str
    count: int
    group: str | None = None
    """Its alphabet, superclass or script, where there is one."""


@dataclass(frozen=True)
class Contents:
    """What a source found: all that a store needs, the images being read class by class."""

    classes: list[ClassEntry]
    shape: tuple[int, ...]
    read: Callable[[int], NDArray[Any]]
    """The array of a class, (count, *shape)."""
    splits: dict[str, dict[str, list[str]]]
    """Splitting schemes by name, the first is the default; each names the classes of train, val and test."""
    options: dict[str, Any] = field(default_factory=dict)
    """What the user chose; preparing again with other options replaces the store."""
    files: list[Path] = field(default_factory=list)
    """What it was made from, for the record."""
    official_images: int | None = None
    dtype: str = "uint8"


def data_folder() -> Path:
    """Where stores live: `$SAMOVAR_DATA`, or a folder in the user's cache."""
    if chosen := os.environ.get("SAMOVAR_DATA"):
        return Path(chosen).expanduser()
    return Path(os.environ.get("XDG_CACHE_HOME") or "~/.cache").expanduser() / "samovar" / "data"


def checksum(path: Path) -> str:
    """SHA-256 of a file."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def fingerprint(paths: Iterable[Path]) -> dict[str, str]:
    """Names, sizes and times of loose files, to notice when they change without reading them all."""
    digest = hashlib.sha256()
    for path in paths:
        state = path.stat()
        digest.update(repr((path.name, state.st_size, state.st_mtime_ns)).encode())
    return {"fingerprint": digest.hexdigest()}


def _seal(facts: Mapping[str, Any]) -> str:
    """Checksum of all facts but itself, so that damage to `store.json` is noticed too."""
    rest = {key: value for key, value in facts.items() if key != "seal"}
    return hashlib.sha256(json.dumps(rest, sort_keys=True).encode()).hexdigest()


class Store:
    """A prepared data set. Opening it maps the array; nothing is read until it is used."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        try:
            self.facts: dict[str, Any] = json.loads((folder / "store.json").read_bytes())
            if self.facts["format"] != FORMAT:
                raise DataError(
                    f"{folder} has format {self.facts['format']}, this version reads {FORMAT}. {_AGAIN}"
                )
            if self.facts["seal"] != _seal(self.facts):
                raise DataError(
                    f"{folder / 'store.json'} was changed after it was prepared. {_AGAIN}"
                )
            self.array: NDArray[Any] = np.load(
                folder / "data.npy", mmap_mode="r", allow_pickle=False
            )
        except FileNotFoundError as error:
            raise DataError(
                f"There is no prepared data at {folder}. Prepare it with: samovar data prepare {folder.name}"
            ) from error
        except (OSError, ValueError, KeyError, TypeError) as error:
            if isinstance(error, DataError):
                raise
            raise DataError(f"{folder} is not a whole store ({error}). {_AGAIN}") from error
        self.classes = [ClassEntry(**entry) for entry in self.facts["classes"]]
        expected = (sum(entry.count for entry in self.classes), *self.facts["shape"])
        if self.array.shape != expected or self.array.dtype != self.facts["dtype"]:
            raise DataError(f"{folder / 'data.npy'} does not fit store.json. {_AGAIN}")

    @property
    def name(self) -> str:
        """The name it was prepared under."""
        return str(self.facts["name"])

    @property
    def partial(self) -> str | None:
        """What is missing of the official data set, to be printed with every result."""
        return self.facts["partial"]

    @cached_property
    def positions(self) -> dict[str, int]:
        """Position of each class by its name."""
        return {entry.name: position for position, entry in enumerate(self.classes)}

    def split(self, split: str, scheme: str | None = None) -> list[int]:
        """Positions of the classes of train, val or test, by the default scheme or the named one."""
        schemes = self.facts["splits"]
        chosen = scheme or next(iter(schemes))
        if chosen not in schemes:
            raise DataError(
                f"{self.name} has no split called {chosen!r}; it has {', '.join(schemes)}."
            )
        if split not in schemes[chosen]:
            raise DataError(
                f"{self.name} has no part {split!r} in its split; it has {', '.join(schemes[chosen])}."
            )
        return [self.positions[name] for name in schemes[chosen][split]]

    @cached_property
    def identity(self) -> str:
        """Which images, classes and splits these are, wherever and whenever they were prepared."""
        told = {key: self.facts[key] for key in ("checksum", "classes", "splits", "shape", "dtype")}
        return hashlib.sha256(json.dumps(told, sort_keys=True).encode()).hexdigest()

    def statistics(self, scheme: str | None = None) -> tuple[list[float], list[float]]:
        """Mean and standard deviation of each channel over the training classes of a splitting scheme."""
        if scheme is None or scheme == next(iter(self.facts["splits"])):
            return self.facts["mean"], self.facts["std"]
        ends = np.cumsum([entry.count for entry in self.classes])
        found = Statistics(self.facts["shape"][-1])
        for position in self.split("train", scheme):
            found.add(self.array[ends[position] - self.classes[position].count : ends[position]])
        return found.mean.tolist(), found.std.tolist()

    def verify(self) -> None:
        """Compare the array with its recorded checksum."""
        if checksum(self.folder / "data.npy") != self.facts["checksum"]:
            raise DataError(
                f"{self.folder / 'data.npy'} has changed since it was prepared. {_AGAIN}"
            )


_AGAIN = "Prepare it again with: samovar data prepare"


def open_store(name: str, folder: Path | None = None) -> Store:
    """The prepared data set of this name."""
    if name in ("", ".", "..") or Path(name).name != name:
        raise DataError(f"{name!r} is not a name of a data set.")
    return Store((folder or data_folder()) / name)
