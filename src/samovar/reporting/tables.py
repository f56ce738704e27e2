"""What people see in the terminal: tables."""

from typing import Any

from rich.markup import escape
from rich.table import Table

from samovar.data.sources import REGISTRY
from samovar.data.store import Store
from samovar.errors import DataError


def synthetic_table(result: dict[str, Any]) -> Table:
    """Variance ratios, a row for each method and L, a column for each sigma_y; mean and std over the seeds."""
    sigmas = result["settings"]["sigma_y"]
    table = Table(
        title="Variance of the network / of the true posterior (1 is right; ± std over seeds)"
    )
    table.add_column("training")
    table.add_column("L", justify="right")
    for sigma_y in sigmas:
        table.add_column(f"sigma_y = {sigma_y:g}", justify="right")
    cells: dict[tuple[str, int | None], list[str]] = {}
    for row in result["results"]:
        figure = row["variance_ratio"]
        cells.setdefault((row["method"], row["samples"]), []).append(
            f"{figure['mean']:.3f} ± {figure['std']:.3f}"
        )
    for (method, samples), texts in cells.items():
        if samples in (None, result["settings"]["samples"][0]):
            table.add_section()
        table.add_row(method.replace("_", " "), str(samples or ""), *texts)
    table.add_section()
    table.add_row(
        "Monte Carlo is 0 up to",
        "L*",
        *(f"{row['zero_variance_limit']:.4g}" for row in result["theory"]),
    )
    return table


def store_summary(store: Store | DataError) -> dict[str, Any]:
    """What a prepared data set is, or what is wrong with it."""
    if isinstance(store, DataError):
        return {"error": str(store)}
    kept = ("title", "licence", "citation", "shape", "partial")
    splits = {
        scheme: {part: len(names) for part, names in parts.items()}
        for scheme, parts in store.facts["splits"].items()
    }
    sizes = {
        "images": len(store.array),
        "classes": len(store.classes),
        "bytes": store.array.nbytes,
        "splits": splits,
    }
    return {key: store.facts[key] for key in kept} | sizes


def store_line(store: Store) -> str:
    """A prepared data set in one line."""
    facts = store_summary(store)
    parts = "; ".join(
        f"{scheme}: " + " / ".join(map(str, sizes.values()))
        for scheme, sizes in facts["splits"].items()
    )
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
            state = (
                "can be prepared"
                if not source.root_hint or source.downloads
                else "can be prepared with --root"
            )
            table.add_row(name, source.title, source.licence, state)
    return table
