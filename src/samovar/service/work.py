"""The one place where the processor works: a few threads with a bounded queue.

The event loop only reads requests and writes responses. Whatever decodes, encodes or computes is
done here. If too many requests wait already, a new one is refused at once, with the advice to try
again. A request whose client has left is dropped: from the queue, or at its next image.
"""

import asyncio
import threading
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any, TypeVar

from starlette.requests import Request

from samovar.core.progress import Progress
from samovar.service.metrics import Metrics
from samovar.service.problems import RETRY_AFTER, Problem

Result = TypeVar("Result")


class DroppedError(Exception):
    """The client of the work that was being done has left."""


class Work:
    """Threads that work on requests, and the queue before them."""

    def __init__(self, threads: int, queue: int, metrics: Metrics) -> None:
        self.most = threads + queue
        self.inside = 0
        """Requests that are worked on or wait; changed by the event loop only."""
        self._metrics = metrics
        self._pool = ThreadPoolExecutor(threads, "samovar-work")

    async def do(self, request: Request, function: Callable[[Progress], Result]) -> Result:
        """Return the result of a function that one of the threads calls.

        It gets a `Progress` to call after every image, which ends it once the client has left.
        """
        if self.inside >= self.most:
            self._metrics.refused.inc()
            detail = "The server has too much to do. Try again in a moment."
            raise Problem(503, detail, headers=RETRY_AFTER)
        left = threading.Event()

        def progress(*_: object) -> None:
            if left.is_set():
                raise DroppedError

        future = self._pool.submit(function, progress)
        self._count(future)
        return await self._result(request, future, left)

    async def _result(
        self, request: Request, future: Future[Result], left: threading.Event
    ) -> Result:
        """Wait for the work or for the client to leave, whichever comes first."""
        result = asyncio.wrap_future(future)
        leaves = asyncio.ensure_future(_leaves(request))
        first: set[asyncio.Future[Any]] = {result, leaves}
        try:
            await asyncio.wait(first, return_when=asyncio.FIRST_COMPLETED)
            if not result.done():
                self._metrics.dropped.inc()
                left.set()
                if not future.cancel():
                    # Its uploads are closed after this, so it must have ended.
                    await asyncio.wait({result})
                raise DroppedError
            return result.result()
        finally:
            leaves.cancel()

    def _count(self, future: Future[Result]) -> None:
        """Count the work as inside until it is done or cancelled."""
        self.inside += 1
        self._metrics.inside.set(self.inside)
        loop = asyncio.get_running_loop()

        def done(_: object) -> None:
            loop.call_soon_threadsafe(leave)

        def leave() -> None:
            self.inside -= 1
            self._metrics.inside.set(self.inside)

        future.add_done_callback(done)

    def close(self) -> None:
        """End the threads; what waits is not done any more."""
        self._pool.shutdown(wait=True, cancel_futures=True)


async def _leaves(request: Request) -> None:
    """Return when the client has left; the request must have been read to its end."""
    while True:
        message = await request.receive()
        if message["type"] == "http.disconnect":
            return
