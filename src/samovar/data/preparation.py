"""From the name of a source to a prepared store.

Official files are found under `root` or downloaded, the source opens them, and the store is
written. What is prepared already is only opened. Listing stores needs neither torch nor matplotlib.
"""

import contextlib
import re
from pathlib import Path

from samovar.core.progress import Progress, silent
from samovar.data.archive import find
from samovar.data.download import download, md5
from samovar.data.replacement import tidy_if_free
from samovar.data.sources.base import Source
from samovar.data.sources.registry import REGISTRY, source_named
from samovar.data.store import Store, data_folder, open_store
from samovar.data.store_writer import write_store
from samovar.errors import DataError
from samovar.settings.data import PrepareSettings

DOWNLOADS = "downloads"
"""The folder beside the stores for downloaded files."""


def prepare(
    name: str,
    root: Path | None = None,
    settings: PrepareSettings | None = None,
    *,
    store_name: str | None = None,
    folder: Path | None = None,
    progress: Progress = silent,
) -> Store:
    """Prepare a data set once, from a local archive or folder (`root`) or by download.

    Later calls open what is there. `prepare("glyphs").array.shape` is (30280, 28, 28, 1).
    """
    source = source_named(name)
    folder = folder or data_folder()
    store_name = store_name or name
    _check_name(store_name, name)
    tidy_if_free(folder / store_name)
    if root is None and (folder / store_name).exists():
        # A damaged store is prepared again.
        with contextlib.suppress(DataError):
            return open_store(store_name, folder)
    files = _find_root(source, root, folder, progress)
    contents = source.open(files, settings or PrepareSettings())
    return write_store(store_name, source.facts(), contents, folder, progress)


def _find_root(source: Source, root: Path | None, folder: Path, progress: Progress) -> Path:
    """Return where the source finds its files, after downloading them if the user gave no root."""
    if root is not None:
        if not root.exists():
            raise DataError(f"{root} does not exist. {source.root_hint}")
        return root
    if not source.root_hint:
        return Path()  # the source needs no files, like glyphs
    if not source.downloads:
        raise DataError(f"{source.name} needs --root. {source.root_hint}")
    for file in source.downloads:
        download(file, folder / DOWNLOADS, source.root_hint, progress)
    return folder / DOWNLOADS


def _check_name(store_name: str, source_name: str) -> None:
    if not re.fullmatch(r"\w[\w.-]*", store_name):
        raise DataError(
            f"{store_name!r} cannot be the name of a data set: use letters, digits, ., - and _."
        )
    # A store with the name of another source would be taken for that source's data.
    taken = store_name in REGISTRY and store_name != source_name
    if taken or store_name == DOWNLOADS:
        raise DataError(f"The name {store_name!r} is reserved. Choose another one with --store.")


def ready(name: str, progress: Progress = silent) -> Store:
    """Open the prepared store of this name.

    If there is none, it is prepared first, provided that a source of this name needs no root.
    """
    tidy_if_free(data_folder() / name)
    if (data_folder() / name).exists():
        return open_store(name)
    if name not in REGISTRY:
        raise DataError(
            f"There is no prepared data set called {name!r}, and no source of that name (there are "
            f"{', '.join(REGISTRY)}). Your own data is stored as folder-NAME or features-NAME; "
            "`samovar data list` shows all names."
        )
    return prepare(name, progress=progress)


def unofficial_files(store: Store, root: Path) -> list[str]:
    """Return the names of files under a user's root whose checksum is not the official one.

    Such a file is worth a warning, but its content was checked and is used.
    """
    names = []
    for file in source_named(store.facts["source_name"]).downloads:
        path = find(root, file.name)
        if path is not None and md5(path) != file.md5:
            names.append(path.name)
    return names


def list_stores(folder: Path | None = None) -> dict[str, Store | DataError]:
    """Open every prepared data set; a damaged one is listed with its error."""
    folder = folder or data_folder()
    stores: dict[str, Store | DataError] = {}
    if not folder.is_dir():
        return stores
    for path in sorted(folder.glob(".*.writing.old")):
        tidy_if_free(folder / path.name[1 : -len(".writing.old")])
    for path in sorted(folder.iterdir()):
        # Hidden are locks and stores that are being written.
        hidden = path.name.startswith(".")
        if hidden or not path.is_dir() or path.name == DOWNLOADS:
            continue
        try:
            stores[path.name] = Store(path)
        except DataError as error:
            stores[path.name] = error
    return stores
