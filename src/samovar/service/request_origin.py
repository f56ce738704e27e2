"""Only pages of this server may send requests to it from a browser.

A service on the loopback address is reached by every web page that its user opens. Two checks keep
those out. The name in the `Host` header must be one of ours, or else a page could give its own name
our address (DNS rebinding). And a request that changes or computes something must not come from a
page of another origin: a browser says so in `Origin`. Programs other than browsers send none.
"""

from urllib.parse import urlsplit

from starlette.types import ASGIApp, Receive, Scope, Send

from samovar.service.problems import Problem

LOOPBACK = ("localhost", "127.0.0.1", "::1")
READING = ("GET", "HEAD", "OPTIONS")


def host_name(host: str) -> str:
    """Return the name in a Host header without its port.

    >>> host_name("localhost:8000"), host_name("[::1]:80"), host_name("Example.org")
    ('localhost', '::1', 'example.org')
    """
    try:
        return urlsplit(f"//{host}").hostname or ""
    except ValueError:
        return ""


class RequestOrigin:
    """ASGI middleware that refuses requests of other people's pages."""

    def __init__(self, app: ASGIApp, hosts: tuple[str, ...]) -> None:
        self.app = app
        self.hosts = tuple(host.lower() for host in hosts)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request unless it comes from another page or under another name."""
        if scope["type"] == "http":
            problem = self._problem(scope)
            if problem is not None:
                await problem.response()(scope, receive, send)
                return
        await self.app(scope, receive, send)

    def _problem(self, scope: Scope) -> Problem | None:
        headers = dict(scope["headers"])
        host = headers.get(b"host", b"").decode("latin-1")
        if self.hosts and host_name(host) not in self.hosts:
            return Problem(
                421,
                "This server does not answer to the name in the Host header. If it is right, start "
                "it with --allow-host NAME.",
            )
        origin = headers.get(b"origin")
        if origin is None or scope["method"] in READING:
            return None
        if urlsplit(origin.decode("latin-1")).netloc.lower() != host.lower():
            return Problem(403, "Pages of other origins may not use this server.")
        return None
