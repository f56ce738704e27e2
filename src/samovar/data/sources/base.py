"""The interface of a source: its name, its files, and how they become `Contents`."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from samovar.data.images.conversion import Resampling
from samovar.data.store import Contents
from samovar.errors import DataError
from samovar.settings.data import PrepareSettings


@dataclass(frozen=True)
class Download:
    """An official file and the checksum that its page gives."""

    url: str
    md5: str

    @property
    def name(self) -> str:
        """The file name."""
        return self.url.rsplit("/", 1)[-1]


@dataclass(frozen=True)
class Source:
    """A data set, or a kind of data, that can be prepared as a store."""

    name: str
    title: str
    licence: str
    citation: str
    """What a publication should cite; empty for a user's own data."""
    open: Callable[[Path, PrepareSettings], Contents]
    """Opens what is at a root; raises DataError and says what to do if that is not usable."""
    root_hint: str = ""
    """Which file to put where, in one sentence; empty if no root is needed."""
    downloads: tuple[Download, ...] = ()
    inverted: bool = False
    """Images are stored as bright ink on black; a user's dark ink on white paper is inverted."""
    resampling: Resampling = "bilinear"
    """The filter that resized the stored images; a user's images are resized by the same one."""

    def facts(self) -> dict[str, str | bool]:
        """Return what a store records of its source."""
        return {
            "source_name": self.name,
            "title": self.title,
            "licence": self.licence,
            "citation": self.citation,
            "inverted": self.inverted,
            "resampling": self.resampling,
        }


def missing(path: Path, hint: str) -> DataError:
    """Return the error for a root without the files of the source."""
    return DataError(f"Nothing usable was found at {path}. {hint}")
