"""How quick, steady and safe is `samovar serve`? Prints JSON.

    python benchmarks/service.py                                      everything: about 40 minutes
    python benchmarks/service.py --only throughput --rounds 1         a part
    python benchmarks/service.py --litserve FOLDER_OF_LITSERVE        beside LitServe (pip install
                                                                      --target FOLDER litserve)

throughput: one-image predictions by 1, 8 and 32 clients, beside the bare model in a loop (one
thread, and a thread for each core) and beside LitServe, in turns; `processor_ms` is the processor
time of a request, which other programs on the machine change little. health: /healthz while nobody
else asks, and while 8 clients predict flat out. memory: the resident memory before and after many
requests. kills: tasks that were acknowledged and are not there after kill -9 under load. batching:
whether it would pay to put the images of several clients into one batch.
"""

import base64
import io
import json
import os
import shutil
import signal
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import httpx
import numpy as np
import torch
import tyro
from PIL import Image
from service_load import (
    PHOTO,
    Connection,
    Load,
    Request,
    Server,
    prepared,
    processor_seconds,
    quantiles,
    resident_megabytes,
)

from samovar import FewShotClassifier
from samovar.data.images.image_file import ImageFile

CORES = len(os.sched_getaffinity(0))
CLIENTS = (1, 8, 32)
PARTS = ("throughput", "health", "memory", "kills", "batching")


@dataclass
class Arguments:
    """What to measure."""

    only: tuple[str, ...] = PARTS
    """The parts: throughput, health, memory, kills, batching."""
    seconds: float = 8.0
    """How long each measurement takes."""
    rounds: int = 3
    """How often the ways take turns; medians are printed."""
    requests: int = 20_000
    """Requests of the part memory."""
    kills: int = 50
    """Servers that are killed."""
    litserve: Path | None = None
    """The folder that LitServe is installed in; without it, it is left out."""


def bare(classifier: FewShotClassifier, threads: int, seconds: float) -> dict[str, Any]:
    """Answer the photograph in a loop without any server."""
    took: list[float] = []
    begin = time.perf_counter()
    worked = time.process_time()

    def ask(_: int) -> None:
        while time.perf_counter() - begin < seconds:
            start = time.perf_counter()
            classifier.answer([ImageFile("photo", lambda: PHOTO)])
            took.append(time.perf_counter() - start)

    with ThreadPoolExecutor(threads) as pool:
        list(pool.map(ask, range(threads)))
    rate = len(took) / (time.perf_counter() - begin)
    processor = 1e3 * (time.process_time() - worked) / len(took)
    return {
        "requests": len(took),
        "failed": 0,
        "per_second": round(rate, 1),
        **quantiles(took),
        "processor_ms": round(processor, 1),
    }


def under_load(group: int, request: Request, clients: int, seconds: float) -> dict[str, Any]:
    """Return how a server, whose processes are of a group, answers some clients."""
    before = processor_seconds(group)
    with Load(request, clients) as load:
        time.sleep(seconds)
    processor = 1e3 * (processor_seconds(group) - before) / len(load.seconds)
    return load.summary() | {"processor_ms": round(processor, 1)}


def start_litserve(folder: Path, task: Path) -> tuple[subprocess.Popen[bytes], Request]:
    """Start LitServe with the same task, and return the request that asks it."""
    script = str(Path(__file__).with_name("service_litserve.py"))
    url = "http://127.0.0.1:8765"
    process = subprocess.Popen(
        [sys.executable, script, str(task), "8765", str(CORES)],
        env=os.environ | {"PYTHONPATH": str(folder)},
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    )
    body = json.dumps({"image": base64.b64encode(PHOTO).decode()}).encode()
    request = prepared(url, "POST", "/predict", body, "application/json")
    for _ in range(240):
        try:
            if Connection(request).ask() == 200:
                return process, request
        except OSError:
            pass
        time.sleep(0.5)
    raise OSError("LitServe did not start")


def measure_throughput(arguments: Arguments, server: Server, scratch: Path) -> dict[str, Any]:
    """Let the bare model, our server and LitServe take turns."""
    task = server.new_task()
    file = scratch / "task.safetensors"
    file.write_bytes(httpx.get(f"{server.url}/v1/tasks/{task}/file").content)
    torch.set_num_threads(1)
    classifier = FewShotClassifier.load(file)
    ways: dict[str, Callable[[], dict[str, Any]]] = {
        "bare, 1 thread": lambda: bare(classifier, 1, arguments.seconds),
        f"bare, {CORES} threads": lambda: bare(classifier, CORES, arguments.seconds),
    }
    request = server.prediction(task)
    for clients in CLIENTS:
        asked = (server.process.pid, request, clients, arguments.seconds)
        ways[f"samovar, {clients} clients"] = partial(under_load, *asked)
    workers = Server(scratch / "tasks", "--workers", str(CORES))
    asked = (workers.process.pid, workers.prediction(task), 8, arguments.seconds)
    ways[f"samovar, 8 clients, {CORES} workers"] = partial(under_load, *asked)
    other = None
    if arguments.litserve is not None:
        other, other_request = start_litserve(arguments.litserve, file)
        for clients in CLIENTS:
            asked = (other.pid, other_request, clients, arguments.seconds)
            ways[f"LitServe, {clients} clients"] = partial(under_load, *asked)
    results: dict[str, list[dict[str, Any]]] = {name: [] for name in ways}
    for _ in range(arguments.rounds):
        for name, measure in ways.items():
            results[name].append(measure())
    workers.stop()
    if other is not None:
        os.killpg(other.pid, signal.SIGKILL)
        other.wait()
    return {name: _median(rounds) for name, rounds in results.items()}


def _median(rounds: list[dict[str, Any]]) -> dict[str, Any]:
    medians = {}
    for name in rounds[0]:
        medians[name] = round(statistics.median(result[name] for result in rounds), 1)
    return medians


def measure_health(arguments: Arguments, server: Server) -> dict[str, Any]:
    """Ask /healthz while nobody else asks, and while 8 clients predict flat out."""
    request = server.prediction(server.new_task())
    quiet = _health(server, arguments.seconds)
    with Load(request, 8) as load:
        busy = _health(server, arguments.seconds)
    return {"alone": quiet, "while predicting": busy, "predictions": load.summary()}


def _health(server: Server, seconds: float) -> dict[str, float]:
    health = Connection(prepared(server.url, "GET", "/healthz"))
    took = []
    end = time.perf_counter() + seconds
    while time.perf_counter() < end:
        start = time.perf_counter()
        health.ask()
        took.append(time.perf_counter() - start)
        time.sleep(0.01)
    return {"requests": len(took), **quantiles(took)}


def measure_memory(arguments: Arguments, server: Server) -> dict[str, Any]:
    """Compare the memory after some requests with that after many."""
    request = server.prediction(server.new_task())
    measured = {}
    done = 0
    for goal in (arguments.requests // 10, arguments.requests // 2, arguments.requests):
        with Load(request, 4) as load:
            while done + len(load.seconds) < goal:
                time.sleep(0.1)
        done += len(load.seconds)
        measured[f"{done} requests"] = round(resident_megabytes(server.process.pid), 1)
    return {"resident_megabytes": measured}


def measure_kills(arguments: Arguments, scratch: Path) -> dict[str, Any]:
    """Kill servers that are being taught, and count acknowledged tasks that are not there."""
    folder = scratch / "killed"
    acknowledged: set[str] = set()
    lost = 0
    for number in range(arguments.kills):
        server = Server(folder)
        there = {task["id"] for task in httpx.get(f"{server.url}/v1/tasks", timeout=120).json()}
        lost += len(acknowledged - there)
        taught: list[str] = []
        enough = threading.Event()
        delay = np.random.default_rng(number).uniform(0, 0.3)
        with ThreadPoolExecutor(2) as pool:
            for _ in range(2):
                pool.submit(_teach, server, taught, enough)
            enough.wait(120)
            time.sleep(delay)  # so that the kill comes at any moment of the next task
            server.stop(signal.SIGKILL)
        acknowledged = there | set(taught)
        for task in sorted(acknowledged)[20:]:  # the list of tasks stays short
            acknowledged.discard(task)
            shutil.rmtree(folder / task)
    server = Server(folder)
    there = {task["id"] for task in httpx.get(f"{server.url}/v1/tasks", timeout=120).json()}
    server.stop()
    return {"kills": arguments.kills, "lost": lost + len(acknowledged - there)}


def _teach(server: Server, taught: list[str], enough: threading.Event) -> None:
    while True:
        try:
            taught.append(server.new_task(2, 1))
        except httpx.HTTPError:
            return
        enough.set()


def measure_batching(arguments: Arguments) -> dict[str, Any]:
    """Return images in a second through the network, by the size of a batch."""
    torch.set_num_threads(1)
    encoder = FewShotClassifier().fit([Image.open(io.BytesIO(PHOTO))], ["a"]).saved_.open_encoder()
    image = encoder.prepare(Image.open(io.BytesIO(PHOTO)))
    results: dict[str, list[float]] = {}
    for _ in range(arguments.rounds):
        for batch in (1, 2, 4, 8):
            calls = 64 // batch
            start = time.perf_counter()
            with ThreadPoolExecutor(CORES) as pool:
                list(pool.map(encoder.run, [[image] * batch] * calls))
            rate = batch * calls / (time.perf_counter() - start)
            results.setdefault(f"batches of {batch}", []).append(rate)
    return {name: round(statistics.median(rates), 1) for name, rates in results.items()}


def main(arguments: Arguments) -> None:
    """Measure and print."""
    results: dict[str, Any] = {"cores": CORES, "load_before": os.getloadavg()[0]}
    with tempfile.TemporaryDirectory() as name:
        scratch = Path(name)
        if "batching" in arguments.only:
            results["batching"] = measure_batching(arguments)
        if {"throughput", "health", "memory"} & set(arguments.only):
            server = Server(scratch / "tasks")
            if "throughput" in arguments.only:
                results["throughput"] = measure_throughput(arguments, server, scratch)
            if "health" in arguments.only:
                results["health"] = measure_health(arguments, server)
            if "memory" in arguments.only:
                results["memory"] = measure_memory(arguments, server)
            server.stop()
        if "kills" in arguments.only:
            results["kills"] = measure_kills(arguments, scratch)
    print(json.dumps(results, indent=1))


if __name__ == "__main__":
    main(tyro.cli(Arguments, description=__doc__))
