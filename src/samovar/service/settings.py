"""What can be chosen about the service, and the limits on what clients may send.

A server with several worker processes hands its settings to them through the environment, so they
can be written as JSON and read again.
"""

import dataclasses
import json
from dataclasses import dataclass, field

from samovar.core.stored_json import parse_json

VARIABLE = "SAMOVAR_SERVICE"
"""The environment variable that holds the settings for the worker processes."""
MEBIBYTE = 2**20


@dataclass(frozen=True)
class Limits:
    """The most that a client may send; all of it is enforced while it is read."""

    body: int = 200 * MEBIBYTE
    """Bytes of a request."""
    file: int = 32 * MEBIBYTE
    """Bytes of an image file."""
    files: int = 1000
    """Files of a request."""
    entries: int = 5000
    """Entries of a zip archive."""
    unpacked: int = 1024 * MEBIBYTE
    """Bytes that come out of a zip archive."""
    examples: int = 5000
    """Examples of a task."""
    tasks: int = 1000
    """Tasks in the folder."""
    patience: float = 30.0
    """Seconds between two pieces of a request."""


@dataclass(frozen=True)
class ServiceSettings:
    """How the service works."""

    tasks: str
    """The folder of the tasks."""
    model: str = "photos"
    """The model of new tasks: a shipped one, a model folder or a run folder."""
    token: str | None = None
    """What clients must know; None lets everyone in who can reach the address."""
    hosts: tuple[str, ...] = ()
    """The names that the server answers to; any name if there are none."""
    keep_images: bool = False
    """Whether to keep the images themselves, and not only thumbnails of them."""
    threads: int = 2
    """Requests that are worked on at the same time."""
    queue: int = 32
    """Requests that may wait for their turn."""
    limits: Limits = field(default_factory=Limits)

    def to_json(self) -> str:
        """Return the settings as JSON."""
        return json.dumps(dataclasses.asdict(self))

    @classmethod
    def from_json(cls, text: str) -> "ServiceSettings":
        """Read the form of `to_json`."""
        return parse_json(text, cls)
