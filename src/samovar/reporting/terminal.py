"""Text from files and users, as a terminal may show it."""

import sys
from collections.abc import Sequence

from samovar.data.images.user_images import Unreadable


def printable(text: str) -> str:
    """Return text with a question mark for every line break and control character.

    >>> printable("red\\x1b[31m")
    'red?[31m'
    """
    return "".join(character if character.isprintable() else "?" for character in text)


def report_skipped(images: Sequence[Unreadable]) -> int:
    """Name unreadable images on standard error; return the exit code, 1 if there are any."""
    for image in images:
        print(f"samovar: skipped: {printable(image.reason)}", file=sys.stderr)
    return 1 if images else 0
