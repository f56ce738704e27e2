"""How long work reports on itself, without knowing who watches."""

from collections.abc import Callable
from typing import Any

Progress = Callable[[str, float], None]
"""Called with what is being done and the share of the whole that is done, from 0 to 1."""


def silent(what: str, share: float) -> None:
    """Nobody watches."""


Watch = Callable[[dict[str, Any]], None]
"""Called with every line of metrics, and with {"event": text} for what people should know."""


def unwatched(line: dict[str, Any]) -> None:
    """Nobody watches."""
