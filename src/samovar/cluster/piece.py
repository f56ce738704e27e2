"""A piece of work: a command of `samovar`, and what came of it."""

import io
import shlex
import socket
import time
import traceback
from collections.abc import Callable
from contextlib import redirect_stderr, redirect_stdout
from dataclasses import dataclass

Main = Callable[[list[str]], int]
"""The command line: takes the arguments after `samovar`, returns the exit code.

It is passed down to the engines, which are below it in the order of the rooms.
"""
LONGEST_LOG = 50_000
"""Characters that are kept of what a piece prints, from the end. Ray sends results of up to 100 kB
with the message that the task has ended, so that they do not get lost with the node."""
REFUSED = 2
"""The exit code for flags that are refused."""
DIED = -1
"""The exit code of a piece whose process did not live to return one."""


@dataclass(frozen=True)
class Piece:
    """One command of `samovar`, whose arguments say all that its result depends on."""

    name: str
    """Unique among the pieces; the name of its log."""
    arguments: tuple[str, ...]
    """What comes after `samovar`; paths are absolute."""
    accepted: tuple[int, ...] = (0,)
    """Exit codes with which the result is there."""

    @property
    def command(self) -> str:
        """The command as a line for a shell.

        >>> Piece("a", ("embed", "my photos")).command
        "samovar embed 'my photos'"
        """
        return shlex.join(["samovar", *self.arguments])


@dataclass(frozen=True)
class Outcome:
    """What came of a piece."""

    piece: Piece
    exit_code: int
    log: str
    """The end of what it printed, or why its process died."""
    host: str = ""
    seconds: float = 0.0

    @property
    def failed(self) -> bool:
        """Whether the result is not there."""
        return self.exit_code not in self.piece.accepted


def run_piece(main: Main, piece: Piece) -> Outcome:
    """Run a piece in this process; what it prints goes into its log, and a traceback too."""
    log = io.StringIO()
    began = time.monotonic()
    with redirect_stdout(log), redirect_stderr(log):
        try:
            exit_code = main(list(piece.arguments))
        except SystemExit as stop:
            # This is how flags are refused. With any other code it is the engine that ends the
            # process, to give the piece to another one.
            if stop.code != REFUSED:
                raise
            exit_code = REFUSED
        except Exception:  # whatever it is, the other pieces go on
            traceback.print_exc(file=log)
            exit_code = DIED
    seconds = time.monotonic() - began
    return Outcome(piece, exit_code, log.getvalue()[-LONGEST_LOG:], socket.gethostname(), seconds)
