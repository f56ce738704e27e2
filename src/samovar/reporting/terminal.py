"""Text from files and users, as a terminal may show it."""

import sys
from collections.abc import Sequence

from samovar.core.text import printable, shortened
from samovar.data.images.user_images import Unreadable

__all__ = ["printable", "report_skipped"]


def report_skipped(images: Sequence[Unreadable]) -> int:
    """Name unreadable images on standard error; return the exit code, 1 if there are any."""
    for image in images:
        print(f"samovar: skipped: {printable(shortened(image.reason))}", file=sys.stderr)
    return 1 if images else 0
