"""Writing a store: checked, whole or not at all, and never over anything that is not a store."""

import contextlib
import json
import os
import shutil
from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np
from filelock import FileLock

from samovar.core.files import write_whole
from samovar.core.progress import Progress, silent
from samovar.data.statistics import Statistics
from samovar.data.store import FORMAT, Contents, Store, _seal, checksum, data_folder
from samovar.errors import DataError, OutputError


def write_store(
    name: str,
    facts: Mapping[str, Any],
    contents: Contents,
    folder: Path | None = None,
    progress: Progress = silent,
) -> Store:
    """Write a store whole or not at all; `facts` are title, licence and citation.

    A lock, which dies with its process, makes a second process wait and then find the work done.
    """
    folder = folder or data_folder()
    _check(name, contents)
    target = folder / name
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with FileLock(folder / f".{name}.lock"):
            if (existing := _same(target, contents)) is not None:
                return existing
            _check_replaceable(target)
            unfinished = (
                folder / f".{name}.writing"
            )  # there if a process was killed: the lock is ours now
            shutil.rmtree(unfinished, ignore_errors=True)
            unfinished.mkdir()
            try:
                _write(unfinished, name, facts, contents, progress)
                _replace(unfinished, target)
            finally:
                shutil.rmtree(unfinished, ignore_errors=True)
    except OSError as error:
        if isinstance(error, OutputError):
            raise
        raise OutputError(
            f"Cannot write the data folder {folder}: {error.strerror or error}. "
            "Free some space, or choose another folder with the variable SAMOVAR_DATA."
        ) from error
    return Store(target)


def _same(target: Path, contents: Contents) -> Store | None:
    with contextlib.suppress(DataError):
        store = Store(target)
        described = json.loads(json.dumps(_description(contents)))
        if all(store.facts[key] == value for key, value in described.items()):
            return store
    return None


def _check_replaceable(target: Path) -> None:
    """Refuse to remove what is not a store, such as the very images it is made from."""
    if target.is_dir() and {path.name for path in target.iterdir()} <= {"data.npy", "store.json"}:
        return
    if target.exists():
        raise DataError(
            f"{target} is there and holds other things than a prepared data set, which would be lost. Choose another "
            "name with --store, or another data folder with the variable SAMOVAR_DATA."
        )


def _replace(unfinished: Path, target: Path) -> None:
    old = unfinished.with_name(f"{unfinished.name}.old")
    if target.exists():
        shutil.rmtree(old, ignore_errors=True)
        target.rename(old)
    try:
        unfinished.rename(target)
    except BaseException:
        if old.exists():
            old.rename(target)
        raise
    shutil.rmtree(old, ignore_errors=True)


def _check(name: str, contents: Contents) -> None:
    names = [entry.name for entry in contents.classes]
    doubled = (
        sorted({each for each in names if names.count(each) > 1})
        if len(set(names)) < len(names)
        else []
    )
    if doubled:
        raise DataError(f"{name} has two classes called {doubled[0]!r}. Rename one of them.")
    if not names:
        raise DataError(f"{name} has no classes.")
    for entry in contents.classes:
        if entry.count < 1:
            raise DataError(
                f"Class {entry.name!r} of {name} has no images. Add some, or remove the class."
            )
    for scheme, parts in contents.splits.items():
        listed = [each for part in parts.values() for each in part]
        if unknown := set(listed) - set(names):
            raise DataError(
                f"The split {scheme!r} of {name} lists {sorted(unknown)[0]!r}, which is not a class of it."
            )
        if len(set(listed)) < len(listed):
            raise DataError(
                f"The split {scheme!r} of {name} lists a class twice. Each may be in one part only."
            )


def _description(contents: Contents) -> dict[str, Any]:
    return {
        "classes": [asdict(entry) for entry in contents.classes],
        "splits": contents.splits,
        "options": contents.options,
        "shape": list(contents.shape),
        "source": [{"file": path.name, "sha256": checksum(path)} for path in contents.files],
    }


def _write(
    folder: Path, name: str, facts: Mapping[str, Any], contents: Contents, progress: Progress
) -> None:
    total, done = sum(entry.count for entry in contents.classes), 0
    train = set(next(iter(contents.splits.values())).get("train", []))
    statistics = Statistics(contents.shape[-1])
    # Plain writes, not a memory map: on a full disk these fail with an error instead of a signal.
    with (folder / "data.npy").open("wb") as file:
        header = {
            "descr": np.dtype(contents.dtype).str,
            "fortran_order": False,
            "shape": (total, *contents.shape),
        }
        np.lib.format.write_array_header_1_0(file, header)
        for position, entry in enumerate(contents.classes):
            array = np.ascontiguousarray(contents.read(position), dtype=contents.dtype)
            if array.shape != (entry.count, *contents.shape):
                raise DataError(
                    f"Class {entry.name!r} of {name} changed while it was read. Try again."
                )
            file.write(array.data)
            if entry.name in train:
                statistics.add(array)
            done += entry.count
            progress(entry.name, done / total)
        file.flush()
        os.fsync(file.fileno())
    complete: dict[str, Any] = {
        "format": FORMAT,
        "name": name,
        **facts,
        **_description(contents),
        "dtype": contents.dtype,
        "mean": statistics.mean.tolist(),
        "std": statistics.std.tolist(),
        "partial": _partial(total, contents.official_images),
        "checksum": checksum(folder / "data.npy"),
    }
    complete["seal"] = _seal(complete)
    write_whole(folder / "store.json", json.dumps(complete, indent=1).encode())


def _partial(images: int, official: int | None) -> str | None:
    return (
        f"{images:,} of {official:,} images" if official is not None and images < official else None
    )
