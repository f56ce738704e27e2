"""`samovar presets`."""

import json
from typing import TYPE_CHECKING, Annotated

import tyro

from samovar.settings.presets import PRESETS
from samovar.settings.stored import to_dict

if TYPE_CHECKING:
    from rich.table import Table


def presets(*, as_json: Annotated[bool, tyro.conf.arg(name="json")] = False) -> None:
    """List the presets: one for every trained cell of the paper's tables, and our own.

    The paper's presets are listed with the published accuracy, in percent with its 95 % interval.

    Args:
        as_json: Print JSON with all settings instead of a table.
    """
    from rich.console import Console

    if as_json:
        settings = {name: to_dict(preset) for name, preset in PRESETS.items()}
        print(json.dumps(settings, indent=1))
        return
    Console().print(presets_table())


def presets_table() -> "Table":
    """Return a table with a row for each preset."""
    from rich.table import Table

    table = Table(title="Presets: samovar train NAME")
    for column in ("name", "what it is", "published, %"):
        table.add_column(column, overflow="fold")
    for preset in PRESETS.values():
        published = ""
        if preset.published is not None:
            published = f"{preset.published.accuracy} ± {preset.published.ci95}"
        table.add_row(preset.name, preset.about, published)
    return table
