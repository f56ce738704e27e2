"""Pieces on a Ray cluster: each is a Ray task, and Ray does the scheduling.

A task whose worker or node dies is given to another by Ray, and goes on with what the first has
left in the shared folder. A command that fails is an answer like any other, and not tried again.
"""

import os
import signal
import socket
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from samovar.cluster.piece import DIED, Main, Outcome, Piece, run_piece
from samovar.errors import SettingsError
from samovar.settings.engine import LOCAL, EngineSettings

RETRIES = 5
"""How often a piece is tried again after its worker or node has died."""
OBJECT_STORE = 100 * 2**20
"""Bytes of memory that a cluster of our own shares between its workers: we pass logs only."""
PATIENCE = 0.5
"""Seconds between two looks at which pieces have ended."""
REACHABLE = 10.0
"""Seconds in which the head of a cluster must answer."""
VARIABLES = ("SAMOVAR_DATA", "SAMOVAR_CACHE")
"""Environment variables that the workers get from us."""


def run_on_ray(pieces: Sequence[Piece], main: Main, settings: EngineSettings) -> Iterator[Outcome]:
    """Run pieces on a Ray cluster and yield what came of each, as they end."""
    ray = _import_ray()
    with _connection(ray, str(settings.ray)):
        task = ray.remote(run_piece).options(
            num_cpus=settings.cpus,
            num_gpus=settings.gpus,
            max_retries=RETRIES,
            scheduling_strategy="SPREAD",
            runtime_env={"env_vars": _variables(settings)},
        )
        pending = {task.remote(main, piece): piece for piece in pieces}
        try:
            while pending:
                references = list(pending)
                ended, _ = ray.wait(references, num_returns=len(references), timeout=PATIENCE)
                for reference in ended:
                    yield _outcome(ray, reference, pending.pop(reference))
        finally:
            for reference in pending:
                ray.cancel(reference, force=True)


def _import_ray() -> Any:
    # Ray reports how it is used to its makers unless it is told not to.
    os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")
    try:
        import ray
    except ImportError as error:
        raise SettingsError("--ray needs Ray: pip install 'samovar[ray]'.") from error
    return ray


@contextmanager
def _connection(ray: Any, address: str) -> Iterator[None]:
    """Connect to a cluster, or start one here; a connection that was there before is used."""
    if ray.is_initialized():
        yield
        return
    _check_reachable(address)
    options: dict[str, Any] = {"address": address}
    if address == LOCAL:
        options |= {"include_dashboard": False, "object_store_memory": OBJECT_STORE}
    handler = signal.getsignal(signal.SIGTERM)
    try:
        ray.init(log_to_driver=False, logging_level="ERROR", **options)
    except (ConnectionError, ValueError, RuntimeError) as error:
        raise _no_cluster(address, error) from error
    try:
        yield
    finally:
        ray.shutdown()
        # Ray takes SIGTERM for itself and does not give it back. Only the main thread can.
        if threading.current_thread() is threading.main_thread():
            signal.signal(signal.SIGTERM, handler)


def _check_reachable(address: str) -> None:
    """Refuse an address where nobody listens; Ray would try for minutes."""
    host, _, port = address.removeprefix("ray://").rpartition(":")
    if not host or not port.isdigit():
        return  # `auto` and `local`; and what else Ray may understand
    try:
        socket.create_connection((host, int(port)), timeout=REACHABLE).close()
    except (OSError, OverflowError) as error:
        raise _no_cluster(address, error) from error


def _no_cluster(address: str, error: Exception) -> SettingsError:
    lines = str(error).strip().splitlines() or [type(error).__name__]
    return SettingsError(
        f"There is no Ray cluster at {address!r} ({lines[0]}). Start one with `ray start --head`, "
        "or use --ray local."
    )


def _variables(settings: EngineSettings) -> dict[str, str]:
    """Return the environment that a piece needs besides the worker's own."""
    variables = {"OMP_NUM_THREADS": str(settings.cpus)}
    for name in VARIABLES:
        if name in os.environ:
            variables[name] = os.environ[name]
    return variables


def _outcome(ray: Any, reference: Any, piece: Piece) -> Outcome:
    try:
        outcome: Outcome = ray.get(reference)
    except ray.exceptions.RayError as error:
        return Outcome(piece, DIED, f"Ray could not finish this piece:\n{error}")
    return outcome
