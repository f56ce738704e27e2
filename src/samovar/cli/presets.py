"""`samovar presets`."""

import dataclasses
import json
from typing import Annotated

import tyro


def presets(*, as_json: Annotated[bool, tyro.conf.arg(name="json")] = False) -> None:
    """List the experiments: a preset for every trained cell of the paper, with its published figure, and our own.

    Args:
        as_json: Print JSON with all settings instead of a table.
    """
    from rich.console import Console
    from rich.table import Table

    from samovar.settings.presets import PRESETS

    if as_json:
        print(
            json.dumps(
                {name: dataclasses.asdict(preset) for name, preset in PRESETS.items()}, indent=1
            )
        )
        return
    table = Table(title="Presets: samovar train NAME")
    for column in ("name", "what it is", "published"):
        table.add_column(column, overflow="fold")
    for preset in PRESETS.values():
        figure = preset.published
        table.add_row(
            preset.name, preset.about, f"{figure.accuracy} ± {figure.ci95}" if figure else ""
        )
    Console().print(table)
