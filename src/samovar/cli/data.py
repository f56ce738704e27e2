"""`samovar data list | prepare | show | verify`."""

import json
import re
import sys
from pathlib import Path
from typing import Annotated

import tyro

from samovar.cli.command import from_function, group
from samovar.settings.data import PrepareSettings

Name = Annotated[str, tyro.conf.Positional, tyro.conf.arg(metavar="NAME")]


def list_data(*, as_json: Annotated[bool, tyro.conf.arg(name="json")] = False) -> None:
    """List the data that is prepared or can be prepared, with size, licence and citation.

    Args:
        as_json: Print JSON instead of a table.
    """
    from rich.console import Console

    from samovar.data.preparation import list_stores
    from samovar.data.sources import REGISTRY
    from samovar.data.store import data_folder
    from samovar.reporting.data_tables import data_listing, data_table

    stores = list_stores()
    if as_json:
        print(json.dumps(data_listing(data_folder(), stores), indent=1))
        return
    Console().print(data_table(stores))
    for source in REGISTRY.values():
        if source.citation:  # a user's own data has none
            print(f"Cite {source.name}: {source.citation}")
    print(f"Data folder: {data_folder()} (set the environment variable SAMOVAR_DATA to change it)")


def prepare_data(
    name: Name,
    settings: Annotated[PrepareSettings, tyro.conf.arg(name="")],
    *,
    root: Path | None = None,
    store: str | None = None,
) -> None:
    """Prepare data once, from a local archive or folder (--root) or by downloading it.

    Args:
        name: glyphs, omniglot, cifar_fs, fc100, miniimagenet, folder (your own images) or features
            (your own vectors).
        settings: Choices for your own data.
        root: The archive or folder to read; without it the official files are downloaded.
        store: The name to keep the data under, NAME by default. With different names you can keep
            several folders of your own.
    """
    from samovar.data.preparation import prepare, unofficial_files
    from samovar.reporting.data_tables import store_line
    from samovar.reporting.progress_bar import progress_bar

    with progress_bar(f"preparing {store or name}") as progress:
        prepared = prepare(name, root, settings, store_name=store, progress=progress)
    if root is not None:
        # A user's copy may be packed differently from the official file and still be complete.
        for file in unofficial_files(prepared, root):
            print(
                f"samovar: {file} does not have the official checksum; "
                "its content was checked and is used.",
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
    """Draw a contact sheet of a prepared data set: a dozen images of each of some classes.

    Args:
        name: A prepared data set.
        split: The split to draw from: train, val or test.
        classes: The number of classes to draw.
        seed: Chooses the classes.
        out: The folder for NAME-SPLIT.png.
    """
    from samovar.core.files import output_folder, write_whole
    from samovar.data.dataset import Dataset
    from samovar.data.store import open_store
    from samovar.reporting.data_tables import store_line
    from samovar.reporting.figures.data import contact_sheet

    _check_name(name)
    store = open_store(name)
    path = output_folder(out) / f"{name}-{split}.png"
    write_whole(path, contact_sheet(Dataset(store, split), classes, seed))
    print(store_line(store))
    print(f"Written: {path}")


def verify_data(name: Name) -> None:
    """Check a prepared data set against the checksum that was recorded when it was prepared.

    Args:
        name: A prepared data set.
    """
    from samovar.data.store import open_store
    from samovar.reporting.data_tables import store_line

    _check_name(name)
    store = open_store(name)
    store.verify()
    print(store_line(store))
    print(f"{store.folder} is complete and unchanged.")


def _check_name(name: str) -> None:
    """Refuse a name that is neither prepared data nor a source of data, with the nearest one."""
    from samovar.core.suggestions import did_you_mean
    from samovar.data.sources import REGISTRY
    from samovar.data.store import data_folder
    from samovar.errors import DataError

    folder = data_folder()
    prepared = []
    if folder.is_dir():
        prepared = [path.name for path in folder.iterdir() if path.is_dir()]
    is_plain = re.fullmatch(r"[\w.-]+", name) is not None  # other names are refused elsewhere
    if is_plain and name not in prepared and name not in REGISTRY:
        near = did_you_mean(name, [*prepared, *REGISTRY])
        raise DataError(f"There is no data called {name!r}.{near} `samovar data list` lists all.")


DATA = group(
    "samovar data",
    "Prepare and inspect data: list, prepare, show, verify.",
    (
        from_function("samovar data list", list_data),
        from_function("samovar data prepare", prepare_data),
        from_function("samovar data show", show_data),
        from_function("samovar data verify", verify_data),
    ),
)
