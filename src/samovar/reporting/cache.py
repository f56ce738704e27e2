"""The cache of vectors of one command: opened where it is wanted, and its notice printed."""

import contextlib
import sys
from collections.abc import Iterator

from samovar.encoders.vector_cache import VectorCache
from samovar.reporting.terminal import printable

SHORT_PATIENCE = 1.0
"""Seconds to wait for another process, for commands that answer at once."""


@contextlib.contextmanager
def vector_cache(*, wanted: bool, patience: float = SHORT_PATIENCE) -> Iterator[VectorCache | None]:
    """Open the cache for the time of a command, or yield None if it is not wanted.

    Whatever is wrong with it is said once on standard error; the command goes on without it, at
    the latest after so many seconds of patience.
    """
    if not wanted:
        yield None
        return
    with VectorCache(patience=patience) as cache:
        yield cache
    if cache.notice is not None:
        print(f"samovar: {printable(cache.notice)}", file=sys.stderr)
