"""Clients of the service, in the same process or in another one, and photographs to send."""

import os
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx
import uvicorn
from fastapi import FastAPI
from helpers_photos import draw_photos

from samovar.service.app import create_app
from samovar.service.server import Address
from samovar.service.settings import ServiceSettings

KINDS = ("bars", "checks", "disc")
Part = tuple[str, tuple[str, bytes, str]]


def photographs(folder: Path) -> dict[str, list[Path]]:
    """Eight drawn photographs of each of three kinds."""
    draw_photos(folder, dict.fromkeys(KINDS, 8), side=96)
    return {kind: sorted((folder / kind).iterdir()) for kind in KINDS}


def parts(paths: Sequence[Path], field: str = "files") -> list[Part]:
    return [(field, (path.name, path.read_bytes(), "image/jpeg")) for path in paths]


def examples(photos: dict[str, list[Path]], each: int = 3, first: int = 0) -> dict[str, Any]:
    """The form of a few labelled photographs of each kind."""
    files = []
    labels = []
    for kind, paths in photos.items():
        files += parts(paths[first : first + each])
        labels += [kind] * each
    return {"files": files, "data": {"labels": labels}}


class Client(httpx.Client):
    """A client that knows the application it talks to, in a thread of this process."""

    app: FastAPI


@contextmanager
def client_of(folder: Path, **settings: Any) -> Iterator[Client]:
    """A client over real HTTP of an application in this process."""
    app = create_app(ServiceSettings(tasks=str(folder), **settings))
    listener = Address("127.0.0.1", 0).bind()
    port = listener.getsockname()[1]
    server = uvicorn.Server(uvicorn.Config(app, log_level="critical", server_header=False))
    thread = threading.Thread(target=server.run, kwargs={"sockets": [listener]})
    thread.start()
    try:
        with Client(base_url=f"http://127.0.0.1:{port}", timeout=60) as client:
            client.app = app
            yield client
    finally:
        server.should_exit = True
        thread.join()
        listener.close()


def new_task(client: httpx.Client, photos: dict[str, list[Path]], each: int = 3) -> dict[str, Any]:
    answer = client.post("/v1/tasks", **examples(photos, each))
    assert answer.status_code == 201, answer.text
    return answer.json()


def problem(answer: httpx.Response, status: int) -> str:
    """What a problem document says, once it is known to be one of this status."""
    assert answer.status_code == status, answer.text
    assert answer.headers["content-type"] == "application/problem+json"
    document = answer.json()
    assert document["status"] == status
    assert document["title"]
    assert document["detail"].endswith((".", "?", "'"))
    return document["detail"]


class ServerProcess:
    """`samovar serve` in a process of its own, on a free port."""

    def __init__(self, folder: Path, *flags: str, **environment: str) -> None:
        command = [sys.executable, "-m", "samovar", "serve", "--port", "0", "--tasks", str(folder)]
        self.process = subprocess.Popen(
            [*command, *flags],
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            env=os.environ | environment,
            start_new_session=True,
        )
        assert self.process.stdout is not None
        line = self.process.stdout.readline()
        assert line.startswith("samovar is at http://"), line + self.process.stdout.read()
        self.url = line.split()[3].rstrip("/")
        # The socket listens before the line is printed, so that a request just waits.
        self.client = httpx.Client(base_url=self.url, timeout=60)

    def __enter__(self) -> "ServerProcess":
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()

    def kill(self) -> None:
        """End it with all its workers, as a failing machine would."""
        self.client.close()
        os.killpg(self.process.pid, signal.SIGKILL)
        self._wait()

    def stop(self, by: signal.Signals = signal.SIGTERM) -> int:
        """Ask it to end by a signal, and return its exit code."""
        self.client.close()
        if self.process.poll() is None:
            self.process.send_signal(by)
        return self._wait()

    def _wait(self) -> int:
        code = self.process.wait(30)
        assert self.process.stdout is not None
        self.process.stdout.close()
        return code


def labels_of(answers: dict[str, Any]) -> list[str]:
    return [answer["label"] for answer in answers["answers"]]
