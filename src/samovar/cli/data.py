"""`samovar data list | prepare | show | verify`."""

import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Annotated

import tyro

from samovar.settings.data import PrepareSettings

Name = Annotated[str, tyro.conf.Positional]


def list_data(*, as_json: Annotated[bool, tyro.conf.arg(name="json")] = False) -> None:
    """What data there is: prepared and possible, with size, licence and citation.

    Args:
        as_json: Print JSON instead of a table.
    """
    from rich.console import Console

    from samovar.data.preparation import list_stores
    from samovar.data.sources import REGISTRY
    from samovar.data.store import data_folder
    from samovar.reporting.tables import data_table, store_summary

    stores = list_stores()
    if as_json:
        facts = {name: store_summary(store) for name, store in stores.items()}
        print(
            json.dumps(
                {"folder": str(data_folder()), "prepared": facts, "sources": list(REGISTRY)},
                indent=1,
            )
        )
        return
    Console().print(data_table(stores))
    for source in REGISTRY.values():
        print(f"Cite {source.name}: {source.citation}")
    print(f"Data folder: {data_folder()} (choose another with the variable SAMOVAR_DATA)")


def prepare_data(
    name: Name,
    settings: Annotated[PrepareSettings, tyro.conf.arg(name="")],
    *,
    root: Path | None = None,
    store: str | None = None,
) -> None:
    """Prepare data once: from a local archive or folder (--root), or by download from the official address.

    Args:
        name: glyphs, omniglot, cifar_fs, fc100, miniimagenet, folder (your own images) or features (your own vectors).
        settings: Choices for your own data.
        root: The archive or folder to read; without it the official files are downloaded.
        store: Name to keep it under, if not `name`: needed to have several folders of your own.
    """
    from samovar.data.preparation import prepare, unofficial_files
    from samovar.reporting.progress_bar import progress_bar
    from samovar.reporting.tables import store_line

    with progress_bar(f"preparing {store or name}") as progress:
        prepared = prepare(name, root, settings, store_name=store, progress=progress)
    for file in unofficial_files(prepared, root) if root else []:
        print(
            f"samovar: {file} does not have the official checksum; its content was checked and used.",
            file=sys.stderr,
        )
    print(store_line(prepared))
    print(f"Prepared in {prepared.folder}")


def show_data(
    name: Name,
    *,
    split: str = "train",
    classes: int = 12,
    seed: int = 0,
    out: Path = Path("runs/data"),
) -> None:
    """Draw a contact sheet of a prepared data set: some classes, some images of each.

    Args:
        name: A prepared data set.
        split: Which part: train, val or test.
        classes: How many classes to draw.
        seed: Which ones.
        out: Folder for NAME-SPLIT.png.
    """
    from samovar.core.files import output_folder, write_whole
    from samovar.data.dataset import Dataset
    from samovar.data.store import open_store
    from samovar.reporting.figures.data import contact_sheet
    from samovar.reporting.tables import store_line

    store = open_store(name)
    path = output_folder(out) / f"{name}-{split}.png"
    write_whole(path, contact_sheet(Dataset(store, split), classes, seed))
    print(store_line(store))
    print(f"Written: {path}")


def verify_data(name: Name) -> None:
    """Check a prepared data set against the checksum that was recorded when it was made.

    Args:
        name: A prepared data set.
    """
    from samovar.data.store import open_store
    from samovar.reporting.tables import store_line

    store = open_store(name)
    store.verify()
    print(store_line(store))
    print(f"{store.folder} is whole and unchanged.")


DATA_COMMANDS: dict[str, Callable[..., None]] = {
    "list": list_data,
    "prepare": prepare_data,
    "show": show_data,
    "verify": verify_data,
}


def data() -> None:
    """Prepare and look at data: list, prepare, show, verify."""
