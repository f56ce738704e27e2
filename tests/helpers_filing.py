"""Photos on the disk that tell who they are, and a process that is killed while it sorts them."""

import os
import signal
from collections.abc import Callable
from pathlib import Path
from typing import Any

from samovar.core import files

CALLS = ("symlink", "link", "unlink", "replace", "rename", "mkdir", "rmdir", "fsync", "utime")
"""The calls of the operating system before which a process is killed."""


def write_photos(folder: Path, names: list[str]) -> list[Path]:
    """Files whose content is their own name."""
    folder.mkdir(parents=True, exist_ok=True)
    paths = []
    for name in names:
        path = folder / name
        path.write_text(f"photo {name}")
        paths.append(path)
    return paths


def everything(folder: Path) -> dict[str, str]:
    """All files and links below a folder, with their content or where they lead."""
    found = {}
    for path in sorted(folder.rglob("*")):
        name = str(path.relative_to(folder))
        if path.is_symlink():
            found[name] = f"-> {path.readlink()}"
        elif path.is_file():
            found[name] = path.read_text()
    return found


def photos_in(folder: Path) -> set[str]:
    """The contents of all photos that are there, and no half ones."""
    contents = set()
    for path in folder.rglob("*.jpg"):
        contents.add(path.read_text())
    return contents


def killed_at(step: int, work: Callable[[], Any]) -> bool:
    """Do work in a process that kills itself before its n-th call that changes the disk.

    Return whether it was killed; if not, it had fewer calls.
    """
    child = os.fork()
    if child == 0:
        _die_at(step)
        try:
            work()
        finally:
            os._exit(0)
    _, status = os.waitpid(child, 0)
    return os.WIFSIGNALED(status) and os.WTERMSIG(status) == signal.SIGKILL


def _die_at(step: int) -> None:
    calls = 0

    def dying(function: Callable[..., Any]) -> Callable[..., Any]:
        def call(*arguments: Any, **options: Any) -> Any:
            nonlocal calls
            if calls == step:
                os.kill(os.getpid(), signal.SIGKILL)
            calls += 1
            return function(*arguments, **options)

        return call

    for name in CALLS:
        setattr(os, name, dying(getattr(os, name)))
    files._renameat2 = dying(files._renameat2)
