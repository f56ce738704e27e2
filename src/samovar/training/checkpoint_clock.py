"""When a checkpoint is due by time, so that a kill never costs more than about a minute."""

import time
from collections.abc import Callable

INTERVAL = 60.0
"""Seconds after which a checkpoint is due."""
BEFORE_VALIDATION = 15.0
"""Seconds after which one is due before an update that a validation follows: a checkpoint waits
for the validation, which may take long."""


class CheckpointClock:
    """Knows when the last checkpoint was written, or the run was started.

    >>> clock = CheckpointClock(iter([0.0, 20.0, 20.0, 61.0]).__next__)
    >>> clock.is_due(validates_next=False), clock.is_due(validates_next=True)
    (False, True)
    >>> clock.is_due(validates_next=False)
    True
    """

    def __init__(self, now: Callable[[], float] = time.monotonic) -> None:
        self._now = now
        self.restart()

    def restart(self) -> None:
        """Start anew, when a checkpoint has been written."""
        self._written = self._now()

    def is_due(self, *, validates_next: bool) -> bool:
        """Return whether a checkpoint is due; `validates_next` is whether the next update is."""
        seconds = self._now() - self._written
        if validates_next:
            return seconds >= min(INTERVAL, BEFORE_VALIDATION)
        return seconds >= INTERVAL
