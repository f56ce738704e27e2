"""What people see in the terminal: tables and progress."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from rich.console import Console
from rich.markup import escape
from rich.progress import BarColumn, Progress, TaskProgressColumn, TextColumn, TimeElapsedColumn, TimeRemainingColumn
from rich.table import Table

from samovar.data.sources import REGISTRY
from samovar.data.store import Store
from samovar.errors import DataError


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


def store_summary(store: Store | DataError) -> dict[str, Any]:
    """What a prepared data set is, or what is wrong with it."""
    if isinstance(store, DataError):
        return {"error": str(store)}
    kept = ("title", "licence", "citation", "shape", "partial")
    splits = {
        scheme: {part: len(names) for part, names in parts.items()} for scheme, parts in store.facts["splits"].items()
    }
    sizes = {"images": len(store.array), "classes": len(store.classes), "bytes": store.array.nbytes, "splits": splits}
    return {key: store.facts[key] for key in kept} | sizes


def store_line(store: Store) -> str:
    """A prepared data set in one line."""
    facts = store_summary(store)
    parts = "; ".join(f"{scheme}: " + " / ".join(map(str, sizes.values())) for scheme, sizes in facts["splits"].items())
    partial = f" PARTIAL: {facts['partial']}." if facts["partial"] else ""
    shape = " x ".join(map(str, facts["shape"]))
    sizes = f"{facts['images']:,} of {shape} in {facts['classes']:,} classes"
    return f"{store.name}: {sizes} (train / val / test {parts}).{partial}"


def data_table(stores: dict[str, Store | DataError]) -> Table:
    """Prepared data sets first, then the sources that could be prepared."""
    table = Table(title="Data")
    for column in ("name", "what it is", "licence", "state"):
        table.add_column(column, overflow="fold")
    for name, store in stores.items():
        if isinstance(store, DataError):
            table.add_row(escape(name), "", "", f"damaged: {escape(str(store))}")
            continue
        facts = store_summary(store)
        state = f"prepared: {facts['images']:,} in {facts['classes']:,} classes, {facts['bytes'] / 1e6:,.0f} MB"
        state += f"; PARTIAL: {facts['partial']}" if facts["partial"] else ""
        table.add_row(escape(name), escape(facts["title"]), escape(facts["licence"]), state)
    for name, source in REGISTRY.items():
        if name not in stores:
            state = "can be prepared" if not source.root_hint or source.downloads else "can be prepared with --root"
            table.add_row(name, source.title, source.licence, state)
    return table


def evaluation_table(summary: dict[str, Any]) -> Table:
    """Figures of a model, those of the classifier at the mean beside them; the protocol is the title."""
    table = Table(title=f"{escape(summary['data'])}\n{escape(summary['protocol']['text'])}")
    for column in ("", "mean of sampled classifiers", "classifier at the mean"):
        table.add_column(column, justify="left" if not column else "right")
    both = (summary, summary["mean_classifier"])
    table.add_row(
        "accuracy", *(f"{100 * s['accuracy']['mean']:.2f} ± {100 * s['accuracy']['ci95']:.2f} %" for s in both)
    )
    for name, label in (("nll", "negative log-likelihood"), ("brier", "Brier score")):
        table.add_row(label, *(f"{s[name]['mean']:.4f} ± {s[name]['ci95']:.4f}" for s in both))
    cells = (f"{s['ece']['value']:.4f} ({s['ece']['ci95'][0]:.4f} to {s['ece']['ci95'][1]:.4f})" for s in both)
    table.add_row("expected calibration error", *cells)
    return table
