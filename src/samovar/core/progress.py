"""How long-running work reports on itself without knowing who watches.

Two kinds of callback carry two kinds of news: `Progress` gets what is being done and how much of it
is done, `Watch` gets the metrics and the events of a training run. `silent` stands for either where
nobody watches.
"""

from collections.abc import Callable
from typing import Any

Progress = Callable[[str, float], None]
"""Called with what is being done, and with the fraction that is done, from 0 to 1."""

Watch = Callable[[dict[str, Any]], None]
"""Called with every line of metrics, and with {"event": text} for news that people should read."""


def silent(*_: object) -> None:
    """Ignore all news."""


def event(text: str) -> dict[str, Any]:
    """Return the line that tells a `Watch` some news.

    >>> event("preparing glyphs")
    {'event': 'preparing glyphs'}
    """
    return {"event": text}
