"""The store: a prepared data set as one memory-mapped array, class after class.

A store is a folder with two files. `data.npy` holds images (n, H, W, C) as uint8, or features
(n, d) as float32. `store.json` holds the facts: classes, splits, statistics, licence and checksums.
Writing is in `store_writer.py`: a store gets its name only when it is complete. Here it is read,
and damage is noticed.
"""

import contextlib
import hashlib
import os
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from samovar.core.stored_json import hash_json
from samovar.data.replacement import tidy_if_free
from samovar.data.statistics import ChannelStatistics
from samovar.data.store_facts import ClassEntry as ClassEntry
from samovar.data.store_facts import read_facts
from samovar.errors import DataError, UnreadableError
from samovar.settings.checked import shortened

SPLITS = ("train", "val", "test")
IDENTIFYING = ("checksum", "classes", "splits", "shape", "dtype")
"""The facts that say which data a store holds, wherever it came from."""

_PREPARE_AGAIN = "Prepare it again with: samovar data prepare"


@dataclass(frozen=True)
class Contents:
    """Everything that a source hands over to make a store; the images are read class by class."""

    classes: list[ClassEntry]
    shape: tuple[int, ...]
    """Shape of one image (H, W, C) or of one feature vector (d,)."""
    read: Callable[[int], NDArray[Any]]
    """Returns the array (count, *shape) of the class at a position."""
    splits: dict[str, dict[str, list[str]]]
    """Splitting schemes by name, the default first; each lists classes of train, val and test."""
    options: dict[str, Any] = field(default_factory=dict)
    """The user's choices; preparing again with other options replaces the store."""
    files: list[Path] = field(default_factory=list)
    """The files that the data comes from; their checksums are recorded."""
    official_images: int | None = None
    """How many images the official data set has; a store with fewer is called partial."""
    dtype: str = "uint8"
    encoder: dict[str, Any] | None = None
    """What is known of the encoder that made the vectors, as `samovar embed` writes it."""

    @property
    def images(self) -> int:
        """The number of images of all classes."""
        return sum(entry.count for entry in self.classes)


def data_folder() -> Path:
    """Return the folder of all stores: `$SAMOVAR_DATA`, or a folder in the user's cache."""
    chosen = os.environ.get("SAMOVAR_DATA")
    cache = os.environ.get("XDG_CACHE_HOME") or "~/.cache"
    try:
        if chosen:
            return Path(chosen).expanduser()
        return Path(cache).expanduser() / "samovar" / "data"
    except RuntimeError as error:  # neither $HOME nor an entry of the user, as in containers
        raise DataError(
            "There is no home folder in which data could be kept. Set the environment variable "
            "SAMOVAR_DATA to a folder."
        ) from error


def checksum(path: Path) -> str:
    """Return the SHA-256 of a file."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def fingerprint(paths: Iterable[Path]) -> dict[str, str]:
    """Return a hash of names, sizes and times of files, which tells changes without reading."""
    digest = hashlib.sha256()
    for path in paths:
        state = path.stat()
        # Sizes and times are enough, as for `make`: reading thousands of images would be slow.
        digest.update(repr((path.name, state.st_size, state.st_mtime_ns)).encode())
    return {"fingerprint": digest.hexdigest()}


class Store:
    """A prepared data set. Opening it maps the array; nothing is read until it is used."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        with _damage_explained(folder):
            # Nothing is unpickled, and the array stays on the disk until it is used.
            checked_facts, self.facts = read_facts(folder / "store.json")
            self.array = _map_array(folder / "data.npy")
        self.classes = list(checked_facts.classes)
        # A file that was cut short or belongs to another store has another shape.
        expected = (self.starts[-1], *self.facts["shape"])
        if self.array.shape != expected or self.array.dtype != self.facts["dtype"]:
            raise DataError(f"{folder / 'data.npy'} does not match store.json. {_PREPARE_AGAIN}")

    @property
    def name(self) -> str:
        """The name under which it was prepared."""
        return str(self.facts["name"])

    @property
    def partial(self) -> str | None:
        """How much of the official data set is present, if not all; printed with every result."""
        return self.facts.get("partial")

    @property
    def encoder(self) -> dict[str, Any] | None:
        """What is known of the encoder that made the vectors; None for images and other vectors."""
        return self.facts.get("encoder")

    @property
    def default_scheme(self) -> str:
        """The name of the first splitting scheme."""
        return next(iter(self.facts["splits"]))

    @cached_property
    def positions(self) -> dict[str, int]:
        """The position of each class by its name."""
        return {entry.name: position for position, entry in enumerate(self.classes)}

    @cached_property
    def starts(self) -> NDArray[np.int64]:
        """The first row of each class in the array, and the number of all rows at the end."""
        counts = [entry.count for entry in self.classes]
        return np.concatenate([[0], np.cumsum(counts)]).astype(np.int64)

    def split(self, split: str, scheme: str | None = None) -> list[int]:
        """Return the positions of the classes of train, val or test, by a scheme or the default."""
        schemes = self.facts["splits"]
        chosen = scheme or self.default_scheme
        if chosen not in schemes:
            raise DataError(
                f"{self.name} has no splitting scheme {chosen!r}; it has {', '.join(schemes)}."
            )
        splits = schemes[chosen]
        if split not in splits:
            raise DataError(f"{self.name} has no split {split!r}; it has {', '.join(splits)}.")
        return [self.positions[name] for name in splits[split]]

    @cached_property
    def identity(self) -> str:
        """A hash of the images, classes and splits, wherever and whenever they were prepared."""
        return hash_json({key: self.facts[key] for key in IDENTIFYING})

    def statistics(self, scheme: str | None = None) -> tuple[list[float], list[float]]:
        """Return mean and standard deviation of each channel over a scheme's training classes."""
        if scheme is None or scheme == self.default_scheme:
            return self.facts["mean"], self.facts["std"]
        # Only those of the default scheme are stored; others are computed when they are needed.
        statistics = ChannelStatistics(self.facts["shape"][-1])
        for position in self.split("train", scheme):
            statistics.add(self.array[self.starts[position] : self.starts[position + 1]])
        return statistics.mean.tolist(), statistics.std.tolist()

    def verify(self) -> None:
        """Compare the array with its recorded checksum, which reads all of it."""
        path = self.folder / "data.npy"
        if checksum(path) != self.facts["checksum"]:
            raise DataError(f"{path} has changed since it was prepared. {_PREPARE_AGAIN}")


def open_store(name: str, folder: Path | None = None) -> Store:
    """Open the prepared data set of this name."""
    # A name must not lead out of the data folder.
    if name in ("", ".", "..") or Path(name).name != name:
        raise DataError(f"{name!r} is not the name of a data set.")
    target = (folder or data_folder()) / name
    tidy_if_free(target)
    return Store(target)


def _map_array(path: Path) -> NDArray[Any]:
    """Return the array of an npy file; it stays on the disk until it is used."""
    if path.exists() and not path.is_file():
        raise UnreadableError(f"{path.name} is not a file")
    try:
        array = np.load(path, mmap_mode="r", allow_pickle=False)
    except OSError:
        raise
    except Exception as error:  # NumPy's parser raises errors of many types on damaged files
        raise UnreadableError(shortened(str(error) or type(error).__name__)) from error
    if not isinstance(array, np.ndarray):
        raise UnreadableError(f"{path.name} is not an npy file")
    return array


@contextlib.contextmanager
def _damage_explained(folder: Path) -> Iterator[None]:
    """Turn whatever reading a damaged store raises into an error that says what to do."""
    try:
        yield
    except FileNotFoundError as error:
        raise DataError(
            f"There is no prepared data at {folder}. Prepare it with: samovar data prepare "
            f"{folder.name}"
        ) from error
    except (OSError, UnreadableError) as error:
        raise DataError(f"{folder} is damaged or incomplete ({error}). {_PREPARE_AGAIN}") from error
