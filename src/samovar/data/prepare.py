"""From a name to a prepared store: find or download the official files, open them, write the store."""

import contextlib
import re
from pathlib import Path

from samovar.core.progress import Progress, silent
from samovar.data.archive import find
from samovar.data.download import download, md5
from samovar.data.sources import REGISTRY
from samovar.data.sources.base import Source
from samovar.data.store import Store, data_folder, open_store
from samovar.data.store_writer import write_store
from samovar.errors import DataError
from samovar.settings.data import PrepareSettings

DOWNLOADS = "downloads"
"""The folder beside the stores for what was fetched."""


def source_named(name: str) -> Source:
    """The source of this name."""
    if name not in REGISTRY:
        raise DataError(
            f"There is no data source called {name!r}; there are {', '.join(REGISTRY)}."
        )
    return REGISTRY[name]


def prepare(
    name: str,
    root: Path | None = None,
    settings: PrepareSettings | None = None,
    *,
    store_name: str | None = None,
    folder: Path | None = None,
    progress: Progress = silent,
) -> Store:
    """Prepare a data set once, from a local archive or folder (`root`) or by download; later calls open what is there.

    `prepare("glyphs").array.shape` is (30280, 28, 28, 1).
    """
    source, settings, folder = (
        source_named(name),
        settings or PrepareSettings(),
        folder or data_folder(),
    )
    store_name = store_name or name
    _check_name(store_name, name)
    if root is None and (folder / store_name).exists():
        with contextlib.suppress(DataError):  # a damaged store is made again
            return open_store(store_name, folder)
    if root is None and source.root_hint:
        if not source.downloads:
            raise DataError(f"{name} needs --root. {source.root_hint}")
        root = folder / DOWNLOADS
        for file in source.downloads:
            download(file, root, source.root_hint, progress)
    elif root is not None and not root.exists():
        raise DataError(f"There is no {root}. {source.root_hint}")
    contents = source.open(root or Path(), settings)
    facts = {
        "source_name": name,
        "title": source.title,
        "licence": source.licence,
        "citation": source.citation,
    }
    return write_store(store_name, facts, contents, folder, progress)


def _check_name(store_name: str, source_name: str) -> None:
    if not re.fullmatch(r"\w[\w.-]*", store_name):
        raise DataError(
            f"{store_name!r} cannot be the name of a data set: use letters, digits, ., - and _."
        )
    if store_name == DOWNLOADS or (store_name in REGISTRY and store_name != source_name):
        raise DataError(
            f"{store_name!r} is kept for other things. Choose another name with --store."
        )


def ready(name: str, progress: Progress = silent) -> Store:
    """The prepared store of this name; a source of this name is prepared now, where that needs no root."""
    if (data_folder() / name).exists():
        return open_store(name)
    if name not in REGISTRY:
        raise DataError(
            f"There is no prepared data called {name!r}. Sources are {', '.join(REGISTRY)}; your own data is kept as "
            "folder-NAME or features-NAME (samovar data list)."
        )
    return prepare(name, progress=progress)


def unofficial_files(store: Store, root: Path) -> list[str]:
    """Files of a user's root whose checksum is not the official one: worth a warning, since the content decides."""
    paths = (
        (find(root, file.name), file) for file in source_named(store.facts["source_name"]).downloads
    )
    return [path.name for path, file in paths if path is not None and md5(path) != file.md5]


def list_stores(folder: Path | None = None) -> dict[str, Store | DataError]:
    """Every prepared data set, or what is wrong with it."""
    found: dict[str, Store | DataError] = {}
    folder = folder or data_folder()
    for path in sorted(folder.iterdir()) if folder.is_dir() else []:
        if path.is_dir() and not path.name.startswith(".") and path.name != DOWNLOADS:
            try:
                found[path.name] = Store(path)
            except DataError as error:
                found[path.name] = error
    return found
