"""Ctrl-C and SIGTERM that wait until the work has come to a point where it can be continued.

The first signal is only noted: whoever does the work asks for it at such a point, saves its state
and calls `stop`. A second signal stops at once.
"""

import os
import signal
import threading
from types import FrameType, TracebackType
from typing import Any

SIGNALS = (signal.SIGINT, signal.SIGTERM)


class Stopped(KeyboardInterrupt):
    """A signal has stopped the work; like every KeyboardInterrupt, no `except Exception` gets it.

    >>> Stopped(signal.SIGTERM).code
    143
    """

    def __init__(self, number: int) -> None:
        super().__init__(number)
        self.code = 128 + number
        """The exit code that shells expect."""


class StopRequests:
    """Notes the signals that ask to stop, while it is entered.

    Signals that are ignored stay ignored, and a program's own handler of SIGTERM stays in place.
    Only the main thread of a program can handle signals: in any other, nothing is noted.
    """

    def __init__(self, notice: str) -> None:
        """`notice` is what the user reads at the first signal."""
        self.notice = notice
        self.number: int | None = None
        """The signal that came."""
        self._handlers: dict[int, Any] = {}

    def __enter__(self) -> "StopRequests":
        if threading.current_thread() is not threading.main_thread():
            return self
        for number in SIGNALS:
            present = signal.getsignal(number)
            if _may_replace(number, present):
                self._handlers[number] = present
                signal.signal(number, self._note)
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        for number, handler in self._handlers.items():
            signal.signal(number, handler)

    def _note(self, number: int, frame: FrameType | None) -> None:
        del frame
        if self.number is not None:
            raise Stopped(number)
        self.number = number
        # Not by print: the signal may have come in the middle of one, which cannot be entered
        # again.
        os.write(2, f"\n{self.notice}\n".encode())

    def stop(self) -> None:
        """Raise what stops the program."""
        raise Stopped(self.number or signal.SIGINT)


def _may_replace(number: int, handler: Any) -> bool:
    if number == signal.SIGINT:
        return handler is not signal.SIG_IGN and handler is not None
    return handler is signal.SIG_DFL
