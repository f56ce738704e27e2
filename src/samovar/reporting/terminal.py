"""Text from files and users, as a terminal may show it."""

import sys
from collections.abc import Sequence

from rich.cells import cell_len

from samovar.core.text import printable
from samovar.core.text import shortened as shortened_message
from samovar.data.images.left_out import LeftOut
from samovar.data.images.user_images import Unreadable

__all__ = ["printable", "report_left_out", "report_skipped", "shortened"]


def shortened(text: str, width: int) -> str:
    """Return text that takes at most so many columns; the middle of a longer one is left out.

    The ends of file names tell them apart. Some characters take two columns, others none.

    >>> shortened("a_very_long_name_0003.jpg", 15)
    'a_very_…003.jpg'
    """
    if cell_len(text) <= width:
        return text
    end = len(text)
    while cell_len(text[end - 1 :]) <= (width - 1) // 2:
        end -= 1
    start = 0
    while cell_len(text[: start + 1]) + 1 + cell_len(text[end:]) <= width:
        start += 1
    return f"{text[:start]}…{text[end:]}"


def report_skipped(images: Sequence[Unreadable]) -> int:
    """Name unreadable images on standard error; return the exit code, 1 if there are any."""
    for image in images:
        print(f"samovar: skipped: {printable(shortened_message(image.reason))}", file=sys.stderr)
    return 1 if images else 0


def report_left_out(left_out: LeftOut | None, note: str = "") -> int:
    """Say on standard error what was left out of folders; return 1 if images were among it."""
    if left_out:
        print(f"samovar: left out: {printable(str(left_out))}.", file=sys.stderr)
    if note:
        print(f"samovar: {note}", file=sys.stderr)
    return int(left_out is not None and left_out.images)
