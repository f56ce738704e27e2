"""The interface of a source, and the choices that a user has in preparing it."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from samovar.data.store import Contents
from samovar.errors import DataError
from samovar.settings.data import PrepareSettings


@dataclass(frozen=True)
class Download:
    """An official file."""

    url: str
    md5: str

    @property
    def name(self) -> str:
        """Its file name."""
        return self.url.rsplit("/", 1)[-1]


@dataclass(frozen=True)
class Source:
    """One kind of data."""

    name: str
    title: str
    licence: str
    citation: str
    open: Callable[[Path, PrepareSettings], Contents]
    """What is found at a root; raises DataError with the remedy."""
    root_hint: str = ""
    """Which file to put where, in one sentence; empty where no root is needed."""
    downloads: tuple[Download, ...] = ()
    inverted: bool = False
    """Stored as bright ink on black, so that a user's dark ink on white paper is inverted for models trained on it."""


def missing(path: Path, hint: str) -> DataError:
    """The error for a root where nothing of the kind is found."""
    return DataError(f"Nothing usable at {path}. {hint}")
