"""`samovar serve`: the service and its page."""

import os
from pathlib import Path
from typing import Annotated

import tyro

from samovar.errors import SettingsError

TOKEN = "SAMOVAR_TOKEN"
"""The environment variable of the token, which does not show in a list of processes."""
MISSING = "`samovar serve` needs a few more packages: pip install 'samovar[serve]'."
Switch = tyro.conf.FlagCreatePairsOff[bool]


def serve(  # noqa: PLR0913 - each parameter is a flag
    *,
    host: str = "127.0.0.1",
    port: int = 8000,
    tasks: Path = Path("samovar-tasks"),
    model: str = "photos",
    token: str | None = None,
    no_token: Switch = False,
    allow_host: Annotated[tuple[str, ...], tyro.conf.UseAppendAction] = (),
    keep_images: Switch = False,
    workers: int = 1,
    queue: int = 32,
    largest_body: int = 200,
) -> int:
    """Serve a page where anyone can teach classes by a few photographs, and ask about others.

    Open the address that is printed in a browser. Programs use the same address; /openapi.json
    describes what they can ask. Everything stays on this machine and works without internet.
    By default only this machine can reach it. Ctrl-C ends it; the tasks stay in their folder.

    Args:
        host: The address to listen on. Any other than that of this machine itself needs a token,
            or --no-token. 0.0.0.0 is every address of this machine.
        port: The port to listen on; 0 takes a free one.
        tasks: The folder in which tasks are kept, with thumbnails of their examples.
        model: The model of new tasks, unless a client names another that is shipped: a shipped
            model, a model folder or a run folder.
        token: A secret of 16 or more characters that clients must send, and that the page asks
            for. Better put it into the environment variable SAMOVAR_TOKEN, since flags can be seen
            by other users of the machine.
        no_token: Let everyone in who can reach the address.
        allow_host: A name under which others reach the server through a proxy, which needs a token
            as well; may be repeated.
        keep_images: Also keep the images of examples as they were sent, and not only thumbnails.
        workers: Server processes; they share the tasks.
        queue: Requests of a process that may wait; further ones are told to come again.
        largest_body: The most that a request may send, in megabytes.
    """
    _check_numbers(workers, queue, largest_body)
    try:
        from samovar.service.server import Address, allowed_hosts, check_access
        from samovar.service.server import serve as serve_until_stopped
    except ModuleNotFoundError as error:
        if (error.name or "").partition(".")[0] == "samovar":
            raise
        raise SettingsError(MISSING) from error
    from samovar.artifacts.locate import locate_model
    from samovar.core.files import output_folder
    from samovar.service.settings import MEBIBYTE, Limits, ServiceSettings

    token = token or os.environ.get(TOKEN) or None
    address = Address(host, port)
    check_access(address, token, no_token=no_token, named=allow_host)
    locate_model(model)  # says now if there is none
    output_folder(tasks)
    settings = ServiceSettings(
        tasks=str(tasks.resolve()),
        model=model,
        token=token,
        hosts=allowed_hosts(address, token, allow_host),
        keep_images=keep_images,
        threads=_threads(workers),
        queue=queue,
        limits=Limits(body=largest_body * MEBIBYTE),
    )
    listener = address.bind()
    _print_start(settings, host, listener.getsockname()[1])
    try:
        serve_until_stopped(settings, listener, workers, "warning")
    except KeyboardInterrupt:  # Ctrl-C is how a server ends
        print("samovar has ended; the tasks stay where they are.")
    return 0


def _check_numbers(workers: int, queue: int, largest_body: int) -> None:
    for flag, value in (
        ("--workers", workers),
        ("--queue", queue),
        ("--largest-body", largest_body),
    ):
        if not 1 <= value <= 10_000:
            raise SettingsError(f"{flag} must be from 1 to 10,000, but is {value}.")


def _threads(workers: int) -> int:
    """Return the threads of a worker process, so that all together use every core."""
    cores = os.cpu_count() or 1
    if hasattr(os, "sched_getaffinity"):
        cores = len(os.sched_getaffinity(0))
    return max(1, cores // workers)


def _print_start(settings: object, host: str, port: int) -> None:
    from samovar.core.text import printable
    from samovar.service.settings import ServiceSettings

    assert isinstance(settings, ServiceSettings)
    shown = f"[{host}]" if ":" in host else host
    print(f"samovar is at http://{shown}:{port}/ (Ctrl-C ends it)")
    kept = "thumbnails of their examples"
    if settings.keep_images:
        kept = "the images of their examples"
    print(f"Tasks are kept in {printable(settings.tasks)}, with {kept}.")
    if settings.token is not None:
        print("The page asks for the token.", flush=True)
    elif not settings.hosts:
        print("Everyone who can reach this address may teach, ask and delete.", flush=True)
    else:
        print("Only this machine can reach it.", flush=True)
