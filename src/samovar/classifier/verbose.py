"""Progress of long work in Python, as one line of text on standard error."""

import sys
from typing import TextIO

from samovar.core.progress import Progress, silent


def verbose_progress(verbose: bool, stream: TextIO | None = None) -> Progress:
    """Return a function that shows progress if it is wanted, and a silent one if not.

    The line is written anew whenever another percent is done; it works in notebooks too.
    """
    if not verbose:
        return silent
    shown = -1

    def show(what: str, share: float) -> None:
        nonlocal shown
        percent = int(100 * share)
        if percent == shown:
            return
        shown = percent
        ending = "\n" if share >= 1 else ""
        print(f"\rsamovar: {what}, {percent} %", end=ending, file=stream or sys.stderr, flush=True)

    return show
