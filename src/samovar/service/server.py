"""The server process: where it listens, and what is refused before it does."""

import ipaddress
import os
import socket
import tempfile
from dataclasses import dataclass
from typing import Any

from samovar.errors import SettingsError
from samovar.service.access import check_token
from samovar.service.metrics import FOLDER
from samovar.service.request_origin import LOOPBACK
from samovar.service.settings import VARIABLE, ServiceSettings

APPLICATION = "samovar.service.app:from_environment"
MOST_CONNECTIONS = 500
"""Connections of a worker process; further ones are told to come again."""
BACKLOG = 256


@dataclass(frozen=True)
class Address:
    """Where the server listens."""

    host: str
    port: int

    @property
    def is_loopback(self) -> bool:
        """Whether only this machine can reach it."""
        if self.host == "localhost":
            return True
        try:
            return ipaddress.ip_address(self.host).is_loopback
        except ValueError:  # a name, which may lead anywhere
            return False

    def bind(self) -> socket.socket:
        """Return a socket that listens there."""
        family = socket.AF_INET6 if ":" in self.host else socket.AF_INET
        # asyncio lets answers go at once (TCP_NODELAY) only if the socket says that it is TCP; if
        # not, every answer waits 40 ms for an acknowledgement.
        listener = socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP)
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            listener.bind((self.host, self.port))
        except (OSError, OverflowError) as error:
            listener.close()
            reason = getattr(error, "strerror", None) or error
            raise SettingsError(
                f"Cannot listen on {self.host}, port {self.port}: {reason}. Choose another --port "
                "or --host."
            ) from error
        listener.listen(BACKLOG)
        listener.set_inheritable(True)
        return listener


def check_access(
    address: Address, token: str | None, *, no_token: bool, named: tuple[str, ...] = ()
) -> None:
    """Refuse to be open to a network by accident, directly or through a proxy."""
    if token is not None:
        check_token(token)
        if no_token:
            raise SettingsError("Choose one of --token and --no-token.")
        return
    reached = [name for name in (address.host, *named) if not Address(name, 0).is_loopback]
    if reached and not no_token:
        raise SettingsError(
            f"Others can reach {reached[0]}: give a --token that they must know, or say "
            "--no-token if everyone may teach, ask and delete."
        )


def allowed_hosts(address: Address, token: str | None, named: tuple[str, ...]) -> tuple[str, ...]:
    """Return the names that the server answers to; none means any.

    Without a token a page elsewhere could give its own name our address, so on the loopback
    address only its own names count. A token protects from that.
    """
    if token is not None and not named:
        return ()
    if address.is_loopback:
        return (*LOOPBACK, address.host, *named)
    return named


def serve(settings: ServiceSettings, listener: socket.socket, workers: int, level: str) -> None:
    """Serve until the process is asked to stop."""
    import uvicorn

    os.environ[VARIABLE] = settings.to_json()
    options: dict[str, Any] = {
        "factory": True,
        "log_level": level,
        "server_header": False,
        "limit_concurrency": MOST_CONNECTIONS,
        "timeout_graceful_shutdown": 10,
        # Who is asking is told by the connection, not by headers that anyone can write.
        "proxy_headers": False,
    }
    if workers == 1:
        uvicorn.Server(uvicorn.Config(APPLICATION, **options)).run(sockets=[listener])
        return
    with tempfile.TemporaryDirectory(prefix="samovar-metrics-") as folder:
        os.environ[FOLDER] = folder
        uvicorn.run(APPLICATION, workers=workers, fd=listener.fileno(), **options)
