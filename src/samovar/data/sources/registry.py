"""The sources of data by name; a source is added by registering it."""

from samovar.core.suggestions import did_you_mean
from samovar.data.sources.base import Source
from samovar.errors import DataError

REGISTRY: dict[str, Source] = {}
"""Every source by its name, in the order of registration; add one with `register_source`."""


def register_source(source: Source, *, replace: bool = False) -> None:
    """Make a source known by its name, so that `prepare(source.name)` finds it.

    A name that is taken is refused, unless `replace` is true (as when a notebook cell is run
    again).

    See docs/extending.md for a whole example.
    """
    if source.name in REGISTRY and not replace:
        raise DataError(
            f"There is already a data source called {source.name!r}. Choose another name, or pass "
            "replace=True."
        )
    REGISTRY[source.name] = source


def source_named(name: str) -> Source:
    """Return the registered source of this name."""
    if name not in REGISTRY:
        raise DataError(
            f"There is no data source called {name!r}.{did_you_mean(name, REGISTRY)} "
            f"Available sources: {', '.join(REGISTRY)}."
        )
    return REGISTRY[name]
