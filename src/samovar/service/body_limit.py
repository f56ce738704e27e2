"""No request is read beyond the limit, however it is sent, and none is waited for without end.

The length that a client announces is checked first, but not believed: the bytes are counted as they
arrive. (The limits of form parsers are on fields, and do not hold for files.)
"""

import asyncio

from starlette.types import ASGIApp, Message, Receive, Scope, Send

from samovar.service.problems import Problem
from samovar.service.settings import Limits

CLOSE = {"Connection": "close"}
"""The rest of the request will not be read, so the connection cannot be used for another one."""


class BodyLimit:
    """ASGI middleware that counts the bytes of each request as they are read."""

    def __init__(self, app: ASGIApp, limits: Limits) -> None:
        self.app = app
        self.limits = limits

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request unless it announces too much."""
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        if _announced(scope) > self.limits.body:
            await _too_large(self.limits.body).response()(scope, receive, send)
            return
        await self.app(scope, _Counted(receive, self.limits), send)


class _Counted:
    """Receives the pieces of a request up to the limit."""

    def __init__(self, receive: Receive, limits: Limits) -> None:
        self._receive = receive
        self._limits = limits
        self._size = 0
        self._complete = False

    async def __call__(self) -> Message:
        if self._complete:  # what comes now is that the client leaves, which may take any time
            return await self._receive()
        try:
            async with asyncio.timeout(self._limits.patience):
                message = await self._receive()
        except TimeoutError:
            detail = "The request was not sent to its end in time. Send it again."
            raise Problem(408, detail, headers=CLOSE) from None
        self._size += len(message.get("body", b""))
        if self._size > self._limits.body:
            raise _too_large(self._limits.body)
        self._complete = not message.get("more_body", False)
        return message


def _too_large(most: int) -> Problem:
    detail = f"The request is too large: at most {most:,} bytes are read. Send fewer files at once."
    return Problem(413, detail, headers=CLOSE)


def _announced(scope: Scope) -> int:
    """Return the length that the client announces; 0 where it says nothing that is a number."""
    for name, value in scope["headers"]:
        if name == b"content-length" and value.isdigit():
            return int(value[:20])
    return 0
