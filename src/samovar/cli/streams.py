"""Standard input, output and error, whatever the caller has made of them.

They may be closed, may be full, may have lost their reader, or may know few characters.
"""

import codecs
import io
import os
import sys
from typing import Literal

PLAIN = {"█": "#", "±": "+-", "…": "..."}
"""What stands for our own characters where they cannot be written."""
SUBSTITUTES = "samovar.substitutes"


def prepare_streams() -> None:
    """Make sure that the standard streams exist, and that any text can go through them."""
    _fill_descriptors()
    codecs.register_error(SUBSTITUTES, _substitutes)
    if sys.stdin is None:
        sys.stdin = _nowhere("r")
    if isinstance(sys.stdin, io.TextIOWrapper):
        # The names of files, of which a list may come this way, need not be text.
        sys.stdin.reconfigure(errors="surrogateescape")
    if sys.stdout is None:
        sys.stdout = _nowhere("w")
    if sys.stderr is None:
        sys.stderr = _nowhere("w")
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            # Names of files and classes need not be text, and a terminal need not know Unicode.
            stream.reconfigure(errors=SUBSTITUTES)


def _nowhere(mode: Literal["r", "w"]) -> io.TextIOWrapper:
    return open(os.devnull, mode, encoding="utf-8")  # noqa: PTH123 - open until the end


def _fill_descriptors() -> None:
    """Open what the caller has closed: our own files would get these numbers, and our output."""
    for number in (0, 1, 2):
        try:
            os.fstat(number)
        except OSError:
            os.open(os.devnull, os.O_RDWR)  # gets the lowest number that is free, which is this


def _substitutes(error: UnicodeError) -> tuple[str, int]:
    """Return what is written instead of characters that the encoding lacks."""
    if not isinstance(error, UnicodeEncodeError):
        raise error
    characters = error.object[error.start : error.end]
    return "".join(PLAIN.get(character, _escaped(character)) for character in characters), error.end


def _escaped(character: str) -> str:
    return character.encode("ascii", "backslashreplace").decode("ascii")


def discard_output() -> None:
    """Let what is still to be written to standard output go nowhere.

    Python flushes once more at exit, and would fail again.
    """
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
