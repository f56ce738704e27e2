"""The progress bar of the terminal."""

from collections.abc import Iterator
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

from samovar.core.progress import Progress as Callback
from samovar.core.progress import silent
from samovar.core.text import printable


@contextmanager
def progress_bar(title: str, *, quiet: bool = False) -> Iterator[Callback]:
    """Show a progress bar on standard error and yield the function that moves it.

    The function takes what is being done and the share of the whole that is done, from 0 to 1. A
    quiet bar shows nothing.
    """
    if quiet:
        yield silent
        return
    columns = (
        BarColumn(),
        TaskProgressColumn(),
        TimeElapsedColumn(),
        TimeRemainingColumn(),
        # Class names and file names may be in it, which are not markup.
        TextColumn("{task.description}", markup=False),
    )
    with Progress(*columns, console=Console(stderr=True)) as progress:
        task = progress.add_task(printable(title), total=1.0)

        def update(what: str, share: float) -> None:
            description = title
            if share < 1:
                description = f"{title}: {what}"
            progress.update(task, description=printable(description), completed=share)

        yield update
