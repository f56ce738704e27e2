"""One store takes the place of another, at once for everybody who looks.

Where the system can swap two folders in one step, a process that is killed leaves the old store or
the new one. Elsewhere the old store steps aside for a moment, and whoever opens the store next puts
it back. What is left of a killed process is removed by the next one that gets the store's lock.
"""

import contextlib
import shutil
from pathlib import Path

from filelock import FileLock, Timeout

from samovar.core.files import exchange


def store_lock(target: Path, timeout: float = -1) -> FileLock:
    """Return the lock of the store at a path."""
    return FileLock(target.with_name(f".{target.name}.lock"), timeout=timeout)


def unfinished_folder(target: Path) -> Path:
    """Return where a store is written before it gets its name."""
    return target.with_name(f".{target.name}.writing")


def _aside(target: Path) -> Path:
    """Return where the old store is for a moment, where two folders cannot be swapped."""
    return target.with_name(f".{target.name}.writing.old")


def replace_store(unfinished: Path, target: Path) -> None:
    """Put the finished folder in the target's place; if that fails, the old store stays."""
    if not target.exists():
        unfinished.rename(target)
    elif exchange(unfinished, target):
        shutil.rmtree(unfinished, ignore_errors=True)  # the old store is there now
    else:
        _replace_in_two_steps(unfinished, target)


def _replace_in_two_steps(unfinished: Path, target: Path) -> None:
    old = _aside(target)
    shutil.rmtree(old, ignore_errors=True)
    target.rename(old)
    try:
        unfinished.rename(target)
    except BaseException:  # also when the user interrupts
        old.rename(target)
        raise
    shutil.rmtree(old, ignore_errors=True)


def tidy(target: Path) -> None:
    """Put back a store that a killed process had moved aside, and remove what else it left.

    The caller holds the lock of the store.
    """
    if not target.exists() and _aside(target).exists():
        _aside(target).rename(target)
    shutil.rmtree(_aside(target), ignore_errors=True)
    shutil.rmtree(unfinished_folder(target), ignore_errors=True)


def tidy_if_free(target: Path) -> None:
    """Tidy up unless nothing is left over, another process writes this store, or nobody may."""
    if not unfinished_folder(target).exists() and not _aside(target).exists():
        return
    with contextlib.suppress(Timeout, OSError), store_lock(target, timeout=0):
        tidy(target)
