"""What can be watched about the service, in the form of Prometheus.

With several worker processes the counts of all are put together through the files that
`PROMETHEUS_MULTIPROC_DIR` names; `samovar serve --workers` sets it.
"""

import os
import time

from prometheus_client import (
    CollectorRegistry,
    Counter,
    Gauge,
    Histogram,
    generate_latest,
    multiprocess,
)
from starlette.types import ASGIApp, Message, Receive, Scope, Send

FOLDER = "PROMETHEUS_MULTIPROC_DIR"
METHODS = ("GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS")


class Metrics:
    """Counters of one application."""

    def __init__(self) -> None:
        registry = CollectorRegistry()
        self.registry = registry
        self.requests = Counter(
            "samovar_requests", "Requests.", ("method", "route", "status"), registry=registry
        )
        self.seconds = Histogram(
            "samovar_request_seconds",
            "Time from the first byte of a request to the last of its answer.",
            ("method", "route"),
            registry=registry,
        )
        self.inside = Gauge(
            "samovar_work_inside",
            "Requests that are worked on or wait for it.",
            multiprocess_mode="livesum",
            registry=registry,
        )
        self.refused = Counter(
            "samovar_work_refused", "Requests that found the queue full.", registry=registry
        )
        self.dropped = Counter(
            "samovar_work_dropped", "Requests whose client left before the end.", registry=registry
        )

    def text(self) -> bytes:
        """Return all counts, those of other worker processes included."""
        if FOLDER not in os.environ:
            return generate_latest(self.registry)
        together = CollectorRegistry()
        multiprocess.MultiProcessCollector(together)
        return generate_latest(together)


class Measured:
    """ASGI middleware that counts and times requests by the pattern of their route."""

    def __init__(self, app: ASGIApp, metrics: Metrics) -> None:
        self.app = app
        self.metrics = metrics

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request and note how long it took."""
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        status = "none"
        start = time.perf_counter()

        async def send_and_note(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = str(message["status"])
            await send(message)

        try:
            await self.app(scope, receive, send_and_note)
        finally:
            # What is no route or no method of HTTP could be anything, and would fill the memory.
            route = getattr(scope.get("route"), "path", "none")
            method = scope["method"] if scope["method"] in METHODS else "other"
            self.metrics.requests.labels(method, route, status).inc()
            self.metrics.seconds.labels(method, route).observe(time.perf_counter() - start)
