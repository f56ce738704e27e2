"""The progress bar of the terminal."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager

from rich.console import Console
from rich.progress import (
    BarColumn,
    Progress,
    TaskProgressColumn,
    TextColumn,
    TimeElapsedColumn,
    TimeRemainingColumn,
)

from samovar.core.progress import silent


@contextmanager
def progress_bar(title: str, *, quiet: bool = False) -> Iterator[Callable[[str, float], None]]:
    """A progress bar on standard error; the yielded function takes what is being done and the share that is done."""
    if quiet:
        yield silent
        return
    columns = (
        BarColumn(),
        TaskProgressColumn(),
        TimeElapsedColumn(),
        TimeRemainingColumn(),
        TextColumn("{task.description}"),
    )
    with Progress(*columns, console=Console(stderr=True)) as progress:
        task = progress.add_task(title, total=1.0)

        def update(what: str, share: float) -> None:
            progress.update(
                task, description=f"{title}: {what}" if share < 1 else title, completed=share
            )

        yield update
