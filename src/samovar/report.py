"""What people see in the terminal: tables and progress."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from rich.console import Console
from rich.progress import BarColumn, Progress, TaskProgressColumn, TextColumn, TimeElapsedColumn, TimeRemainingColumn
from rich.table import Table


@contextmanager
def progress_bar(title: str) -> Iterator[Callable[[str, float], None]]:
    """A progress bar on standard error; the yielded function takes what is being done and the share that is done."""
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
            progress.update(task, description=f"{title}: {what}" if share < 1 else title, completed=share)

        yield update


def synthetic_table(result: dict[str, Any]) -> Table:
    """Variance ratios, a row for each method and L, a column for each sigma_y; mean and std over the seeds."""
    sigmas = result["settings"]["sigma_y"]
    table = Table(title="Variance of the network / of the true posterior (1 is right; ± std over seeds)")
    table.add_column("training")
    table.add_column("L", justify="right")
    for sigma_y in sigmas:
        table.add_column(f"sigma_y = {sigma_y:g}", justify="right")
    cells: dict[tuple[str, int | None], list[str]] = {}
    for row in result["results"]:
        figure = row["variance_ratio"]
        cells.setdefault((row["method"], row["samples"]), []).append(f"{figure['mean']:.3f} ± {figure['std']:.3f}")
    for (method, samples), texts in cells.items():
        if samples in (None, result["settings"]["samples"][0]):
            table.add_section()
        table.add_row(method.replace("_", " "), str(samples or ""), *texts)
    table.add_section()
    table.add_row("Monte Carlo is 0 up to", "L*", *(f"{row['zero_variance_limit']:.4g}" for row in result["theory"]))
    return table
