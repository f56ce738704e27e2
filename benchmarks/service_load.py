"""The server, and clients that load it without using much of the processor themselves.

Each client is a thread with one connection that sends the same prepared bytes again and again. It
reads only as much of an answer as it needs to know where it ends.
"""

import io
import os
import signal
import socket
import statistics
import subprocess
import sys
import threading
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx
import numpy as np
from PIL import Image

BOUNDARY = "x-samovar-benchmark"


@dataclass(frozen=True)
class Request:
    """A request, ready to be sent."""

    host: str
    port: int
    content: bytes


def prepared(url: str, method: str, path: str, body: bytes = b"", kind: str = "") -> Request:
    """Return a request of a server at a URL."""
    host, _, port = url.removeprefix("http://").rstrip("/").partition(":")
    head = f"{method} {path} HTTP/1.1\r\nHost: {host}\r\nContent-Length: {len(body)}\r\n"
    if kind:
        head += f"Content-Type: {kind}\r\n"
    return Request(host, int(port), f"{head}\r\n".encode() + body)


def photo_form(photo: bytes) -> tuple[bytes, str]:
    """Return a form with one photograph, and its type."""
    head = f'--{BOUNDARY}\r\nContent-Disposition: form-data; name="files"; filename="a.jpg"\r\n\r\n'
    body = head.encode() + photo + f"\r\n--{BOUNDARY}--\r\n".encode()
    return body, f"multipart/form-data; boundary={BOUNDARY}"


class Connection:
    """A connection that is kept open."""

    def __init__(self, request: Request) -> None:
        self._request = request
        self._socket = socket.create_connection((request.host, request.port), 120)
        self._reader = self._socket.makefile("rb")

    def ask(self) -> int:
        """Send the request and return the status of the answer."""
        self._socket.sendall(self._request.content)
        line = self._reader.readline()
        if not line:
            raise ConnectionError("the server has closed the connection")
        length = 0
        while (header := self._reader.readline()) not in (b"\r\n", b""):
            name, _, value = header.partition(b":")
            if name.lower() == b"content-length":
                length = int(value)
        self._reader.read(length)
        return int(line.split()[1])

    def close(self) -> None:
        """Close it."""
        self._reader.close()
        self._socket.close()


class Load:
    """Clients that ask flat out from `start` to `stop`."""

    def __init__(self, request: Request, clients: int) -> None:
        self.seconds: list[float] = []
        self.statuses: list[int] = []
        self._request = request
        self._stop = threading.Event()
        self._threads = [threading.Thread(target=self._ask) for _ in range(clients)]

    def __enter__(self) -> "Load":
        self.begin = time.perf_counter()
        for thread in self._threads:
            thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._stop.set()
        for thread in self._threads:
            thread.join()
        self.end = time.perf_counter()

    def _ask(self) -> None:
        connection = Connection(self._request)
        while not self._stop.is_set():
            start = time.perf_counter()
            status = connection.ask()
            self.seconds.append(time.perf_counter() - start)
            self.statuses.append(status)
        connection.close()

    def summary(self) -> dict[str, Any]:
        """Return requests in a second, and how long they took in milliseconds."""
        good = sum(status == 200 for status in self.statuses)
        return {
            "requests": len(self.seconds),
            "failed": len(self.seconds) - good,
            "per_second": round(good / (self.end - self.begin), 1),
            **quantiles(self.seconds),
        }


def quantiles(seconds: list[float]) -> dict[str, float]:
    """Return the median and the 99 % quantile in milliseconds."""
    cuts = statistics.quantiles(seconds, n=100, method="inclusive")
    return {"p50_ms": round(1e3 * cuts[49], 1), "p99_ms": round(1e3 * cuts[98], 1)}


def processor_seconds(group: int) -> float:
    """Return the processor time of all processes of a group so far."""
    ticks = 0
    for path in Path("/proc").glob("[0-9]*/stat"):
        try:
            # The name of the program, in brackets, may have spaces.
            facts = path.read_text().rpartition(")")[2].split()
        except OSError:  # it has ended meanwhile
            continue
        if int(facts[2]) == group:
            ticks += int(facts[11]) + int(facts[12])
    return ticks / os.sysconf("SC_CLK_TCK")


def resident_megabytes(process: int) -> float:
    """Return the memory of a process."""
    for line in Path(f"/proc/{process}/status").read_text().splitlines():
        if line.startswith("VmRSS"):
            return int(line.split()[1]) / 1024
    raise OSError("Linux does not tell the memory of this process")


def draw_photo(seed: int) -> bytes:
    """Return a JPEG of 640 x 480 pixels: a disc of some colour on noise."""
    noise = np.random.default_rng(seed)
    rows, columns = np.mgrid[:480, :640]
    disc = np.hypot(rows - 240, columns - 320) < noise.uniform(80, 200)
    pixels = np.where(disc[..., None], noise.integers(0, 256, 3), 128)
    pixels = (pixels + noise.normal(0, 12, (480, 640, 3))).clip(0, 255).astype(np.uint8)
    buffer = io.BytesIO()
    Image.fromarray(pixels).save(buffer, "JPEG", quality=88)
    return buffer.getvalue()


PHOTO = draw_photo(99)


class Server:
    """`samovar serve` in a process, with one task of five classes."""

    def __init__(self, folder: Path, *flags: str) -> None:
        command = [sys.executable, "-m", "samovar", "serve", "--port", "0", "--tasks", str(folder)]
        self.process = subprocess.Popen(
            [*command, *flags], stdout=subprocess.PIPE, text=True, start_new_session=True
        )
        assert self.process.stdout is not None
        self.url = self.process.stdout.readline().split()[3].rstrip("/")

    def new_task(self, classes: int = 5, each: int = 5) -> str:
        """Teach a task and return its id."""
        files = []
        labels = []
        for number in range(classes * each):
            files.append(("files", (f"{number}.jpg", draw_photo(number), "image/jpeg")))
            labels.append(f"class {number % classes}")
        form = {"files": files, "data": {"labels": labels}}
        answer = httpx.post(f"{self.url}/v1/tasks", timeout=120, **form)  # type: ignore[arg-type]
        return str(answer.raise_for_status().json()["id"])

    def prediction(self, task: str) -> Request:
        """Return the request that asks about one photograph."""
        body, kind = photo_form(PHOTO)
        return prepared(self.url, "POST", f"/v1/tasks/{task}/predict", body, kind)

    def stop(self, how: signal.Signals = signal.SIGTERM) -> None:
        """End it."""
        os.killpg(self.process.pid, how)
        self.process.wait()
