"""Prepared data sets in the terminal and as JSON.

This is apart from the other tables because `samovar data list` should be quick: nothing here
imports torch or matplotlib.
"""

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from rich.markup import escape
from rich.table import Table

from samovar.core.text import printable, shortened
from samovar.data.sources import REGISTRY
from samovar.data.sources.base import Source
from samovar.data.store import Store
from samovar.errors import DataError


@dataclass(frozen=True)
class StoreSummary:
    """What a prepared data set is, without its images."""

    title: str
    licence: str
    citation: str
    shape: list[int]
    partial: str | None
    """What is missing of the official data set, if anything is."""
    images: int
    classes: int
    bytes: int
    splits: dict[str, dict[str, int]]
    """Number of classes by splitting scheme and part."""

    @classmethod
    def of(cls, store: Store) -> "StoreSummary":
        """Summarise a store."""
        facts = store.facts
        return cls(
            title=facts.get("title", ""),
            licence=facts.get("licence", ""),
            citation=facts.get("citation", ""),
            shape=facts["shape"],
            partial=store.partial,
            images=len(store.array),
            classes=len(store.classes),
            bytes=store.array.nbytes,
            splits={scheme: _sizes(parts) for scheme, parts in facts["splits"].items()},
        )

    def to_json(self) -> dict[str, Any]:
        """Return the entry of this data set in `samovar data list --json`."""
        return asdict(self)


def _sizes(parts: Mapping[str, list[str]]) -> dict[str, int]:
    return {part: len(names) for part, names in parts.items()}


def data_listing(folder: Path, stores: Mapping[str, Store | DataError]) -> dict[str, Any]:
    """Return what `samovar data list --json` prints.

    That is the data folder, each prepared data set or what is wrong with it, and all sources.
    """
    prepared: dict[str, Any] = {}
    for name, store in stores.items():
        if isinstance(store, DataError):
            prepared[name] = {"error": str(store)}
        else:
            prepared[name] = StoreSummary.of(store).to_json()
    return {"folder": str(folder), "prepared": prepared, "sources": list(REGISTRY)}


def store_line(store: Store) -> str:
    """Describe a prepared data set in one line: its size, and the classes of each split."""
    summary = StoreSummary.of(store)
    splits = []
    for scheme, sizes in summary.splits.items():
        numbers = " / ".join(str(size) for size in sizes.values())
        splits.append(f"{scheme}: {numbers}")
    shape = " x ".join(str(size) for size in summary.shape)
    line = (
        f"{store.name}: {summary.images:,} {_kind(summary)} of {shape} in "
        f"{summary.classes:,} classes "
        f"(train / val / test {'; '.join(splits)})."
    )
    if summary.partial:
        line += f" PARTIAL: {summary.partial}."
    return printable(line)


def _kind(summary: StoreSummary) -> str:
    if len(summary.shape) == 3:
        return "images"
    return "vectors"


def data_table(stores: Mapping[str, Store | DataError]) -> Table:
    """Return a table of the prepared data sets and then of the sources not yet prepared."""
    table = Table(title="Data")
    for column in ("name", "what it is", "licence", "state"):
        table.add_column(column, overflow="fold")
    for name, store in stores.items():
        # Names and titles may come from a user's files: rich must not read them as markup.
        if isinstance(store, DataError):
            table.add_row(_cell(name), "", "", f"damaged: {_cell(shortened(str(store)))}")
        else:
            summary = StoreSummary.of(store)
            table.add_row(
                _cell(name), _cell(summary.title), _cell(summary.licence), _state(summary)
            )
    for name, source in REGISTRY.items():
        if name not in stores:
            table.add_row(name, source.title, source.licence, _possibility(source))
    return table


def _cell(text: str) -> str:
    return escape(printable(text))


def _state(summary: StoreSummary) -> str:
    megabytes = summary.bytes / 1e6
    amount = f"{summary.images:,} {_kind(summary)} in {summary.classes:,} classes"
    state = f"prepared: {amount}, {megabytes:,.0f} MB"
    if summary.partial:
        state += f"; PARTIAL: {_cell(summary.partial)}"
    return state


def _possibility(source: Source) -> str:
    if source.root_hint and not source.downloads:
        return "can be prepared with --root"
    return "can be prepared"
