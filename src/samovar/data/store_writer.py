"""Writing a store: checked first, written completely or not at all, and never over anything else.

The files are written into a hidden folder beside the target, which takes its place (`replacement`)
when everything is on the disk. A lock makes a second process wait, which then finds the store
complete. The lock is released when its process dies.
"""

import errno
import itertools
import json
import os
import shutil
from collections import Counter
from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np

from samovar.core.files import write_whole
from samovar.core.progress import Progress, silent
from samovar.core.stored_json import seal
from samovar.data.replacement import replace_store, store_lock, tidy, unfinished_folder
from samovar.data.statistics import ChannelStatistics
from samovar.data.store import Contents, Store, checksum, data_folder
from samovar.data.store_facts import FORMAT, LARGEST_FACTS
from samovar.errors import DataError, OutputError


def write_store(
    name: str,
    facts: Mapping[str, Any],
    contents: Contents,
    folder: Path | None = None,
    progress: Progress = silent,
) -> Store:
    """Write a store completely or not at all, and open it.

    `facts` are what the source says of itself: title, licence, citation. A store that has the same
    contents already is opened as it is.
    """
    folder = folder or data_folder()
    _check_classes(name, contents)
    _check_splits(name, contents)
    try:
        folder.mkdir(parents=True, exist_ok=True)
        # A second process waits here, and then finds the store complete.
        with store_lock(folder / name):
            return _write_locked(folder / name, facts, contents, progress)
    except OutputError:
        raise  # it names the file already
    except OSError as error:
        raise OutputError(
            f"Cannot write to the data folder {folder}: {error.strerror or error}. "
            f"{_remedy(error)}, or choose another folder with the environment variable "
            "SAMOVAR_DATA."
        ) from error


def _remedy(error: OSError) -> str:
    if error.errno in (errno.EACCES, errno.EPERM, errno.EROFS):
        return "Make it writable for you"
    if error.errno in (errno.ENOSPC, errno.EDQUOT):
        return "Free some space"
    return "Check the disk"


def _write_locked(
    target: Path, facts: Mapping[str, Any], contents: Contents, progress: Progress
) -> Store:
    # A killed process may have left something behind. We hold the lock, so nobody uses it.
    tidy(target)
    existing = _existing_store(target, contents)
    if existing is not None:
        return existing
    _check_replaceable(target)
    unfinished = unfinished_folder(target)
    unfinished.mkdir()
    try:
        _write_files(unfinished, target.name, facts, contents, progress)
        replace_store(unfinished, target)
    finally:
        shutil.rmtree(unfinished, ignore_errors=True)
    return Store(target)


def _existing_store(target: Path, contents: Contents) -> Store | None:
    """Return the store at the target if it was made from the same contents."""
    try:
        store = Store(target)
    except DataError:
        return None
    # Through JSON, as the facts of the store went: tuples become lists.
    description = json.loads(json.dumps(_describe(contents)))
    for key, value in description.items():
        # Stores of earlier versions know nothing of encoders.
        if store.facts.get(key) != value:
            return None
    return store


def _check_replaceable(target: Path) -> None:
    """Refuse to remove what is not a store, such as the very images that it is made from."""
    if not target.exists():
        return
    if target.is_dir():
        names = {path.name for path in target.iterdir()}
        if names <= {"data.npy", "store.json"}:
            return
    raise DataError(
        f"{target} already exists and contains files that are not part of a prepared data set; "
        "they would be lost. Choose another name with --store, or another data folder with the "
        "environment variable SAMOVAR_DATA."
    )


def _check_classes(name: str, contents: Contents) -> None:
    if not contents.classes:
        raise DataError(f"{name} has no classes.")
    counts = Counter(entry.name for entry in contents.classes)
    for class_name in sorted(counts):
        if counts[class_name] > 1:
            raise DataError(f"{name} has two classes called {class_name!r}. Rename one of them.")
    for entry in contents.classes:
        if entry.count < 1:
            raise DataError(
                f"Class {entry.name!r} of {name} has no images. Add some, or remove the class."
            )


def _check_splits(name: str, contents: Contents) -> None:
    known = {entry.name for entry in contents.classes}
    for scheme, splits in contents.splits.items():
        listed = list(itertools.chain.from_iterable(splits.values()))
        unknown = sorted(set(listed) - known)
        if unknown:
            raise DataError(
                f"The split {scheme!r} of {name} lists {unknown[0]!r}, which is not one of its "
                "classes."
            )
        if len(set(listed)) < len(listed):
            raise DataError(
                f"The split {scheme!r} of {name} lists a class twice. List each class once."
            )


def _describe(contents: Contents) -> dict[str, Any]:
    """Return the facts by which two preparations of the same contents are recognised."""
    description = {
        "classes": [asdict(entry) for entry in contents.classes],
        "splits": contents.splits,
        "options": contents.options,
        "shape": list(contents.shape),
        "source": [{"file": path.name, "sha256": checksum(path)} for path in contents.files],
    }
    if contents.encoder is not None:
        description["encoder"] = contents.encoder
    return description


def _write_files(
    folder: Path, name: str, facts: Mapping[str, Any], contents: Contents, progress: Progress
) -> None:
    # Plain writes, not a memory map: on a full disk these fail with an error instead of a signal.
    with (folder / "data.npy").open("wb") as file:
        header = {
            "descr": np.dtype(contents.dtype).str,
            "fortran_order": False,
            "shape": (contents.images, *contents.shape),
        }
        np.lib.format.write_array_header_1_0(file, header)
        statistics = _write_classes(file, name, contents, progress)
        # The array must be on the disk before store.json says that the store is complete.
        file.flush()
        os.fsync(file.fileno())
    complete: dict[str, Any] = {
        "format": FORMAT,
        "name": name,
        **facts,
        **_describe(contents),
        "dtype": contents.dtype,
        "mean": statistics.mean.tolist(),
        "std": statistics.std.tolist(),
        "partial": _partial(contents.images, contents.official_images),
        "checksum": checksum(folder / "data.npy"),
    }
    complete["seal"] = seal(complete)
    content = json.dumps(complete, indent=1).encode()
    if len(content) > LARGEST_FACTS:
        raise DataError(
            f"{name} has {len(contents.classes):,} classes, whose names take {len(content):,} "
            f"bytes, but at most {LARGEST_FACTS:,} are possible. Divide it into several data sets."
        )
    write_whole(folder / "store.json", content)


def _write_classes(
    file: BinaryIO, name: str, contents: Contents, progress: Progress
) -> ChannelStatistics:
    """Write class after class; return the statistics of the default scheme's training classes."""
    default_splits = next(iter(contents.splits.values()))
    training = set(default_splits.get("train", []))
    statistics = ChannelStatistics(contents.shape[-1])
    total = contents.images
    done = 0
    for position, entry in enumerate(contents.classes):
        array = np.ascontiguousarray(contents.read(position), dtype=contents.dtype)
        expected = (entry.count, *contents.shape)
        if array.shape != expected:
            raise DataError(
                f"Class {entry.name!r} of {name} was read with shape {array.shape} instead of "
                f"{expected}. If its files changed meanwhile, try again."
            )
        file.write(array.data)
        if entry.name in training:
            statistics.add(array)
        done += entry.count
        progress(entry.name, done / total)
    return statistics


def _partial(images: int, official: int | None) -> str | None:
    if official is None or images >= official:
        return None
    return f"{images:,} of {official:,} images"
