"""`samovar task`: what is inside a task file."""

from pathlib import Path
from typing import Annotated

import tyro


def task(path: Annotated[Path, tyro.conf.Positional], *, json: bool = False) -> None:
    """Show what is inside a task file: its model, its classes and how many images each has.

    Args:
        path: A task file written by `samovar fit`.
        json: Print JSON.
    """
    from samovar.cli.own_images import show_task

    show_task(path, as_json=json)
