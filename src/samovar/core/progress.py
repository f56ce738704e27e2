"""How long work reports on itself, without knowing who watches."""

from collections.abc import Callable

Progress = Callable[[str, float], None]
"""Called with what is being done and the share of the whole that is done, from 0 to 1."""


def silent(what: str, share: float) -> None:
    """Nobody watches."""
