"""The tasks on disk: a folder for each, which appears, changes and disappears in one step.

    TASKS/0123456789abcdef/task.safetensors     the task file, the same that `samovar predict` takes
    TASKS/0123456789abcdef/pictures/*.jpg       thumbnails, by the checksums of the images

A new task is written under a hidden name and then renamed; a change replaces the task file; a task
that is deleted is renamed first. So a server that is killed loses nothing that it has acknowledged,
and leaves nothing half done. Several worker processes share the folder: what one has read it reads
again when the file has changed, and whoever changes something holds the lock.
"""

import contextlib
import os
import secrets
import shutil
import threading
import time
from collections import OrderedDict
from collections.abc import Iterator, Sequence
from pathlib import Path

from filelock import FileLock

from samovar.classifier.loading import Fitted, load_fitted, save_fitted
from samovar.classifier.support_names import SupportNames
from samovar.classifier.task_file import TaskInfo
from samovar.core.files import output_folder, remove_leftovers
from samovar.errors import ModelError
from samovar.service.models import DEVICE
from samovar.service.pictures import NewPicture, Pictures
from samovar.service.problems import Problem
from samovar.service.stored_task import StoredTask, is_id

FILE = "task.safetensors"
NEW = ".new-"
OLD = ".old-"
IN_MEMORY = 16
"""Tasks that are kept ready to answer."""
ABANDONED = 3600.0
"""Seconds after which a new task that was not finished is taken for a leftover."""
State = tuple[int, int, int]
"""What tells whether a file has been written again."""


class TaskFolder:
    """The tasks of a folder, for any number of threads and processes."""

    def __init__(self, root: Path, most: int) -> None:
        self.root = output_folder(root)
        self.most = most
        self._ready: OrderedDict[str, tuple[State, StoredTask]] = OrderedDict()
        self._lock = threading.Lock()
        self._remove_leftovers()

    # --- reading

    def ids(self) -> list[str]:
        """Return the ids of all tasks."""
        return [path.name for path in self.root.iterdir() if is_id(path.name)]

    def path(self, task_id: str) -> Path:
        """Return the file of a task; an id that is not ours never becomes a path."""
        if not is_id(task_id):
            raise _no_such_task(task_id)
        return self.root / task_id / FILE

    def content(self, task_id: str) -> bytes:
        """Return the file of a task."""
        try:
            return self.path(task_id).read_bytes()
        except FileNotFoundError:
            raise _no_such_task(task_id) from None

    def pictures(self, task_id: str) -> Pictures:
        """Return the pictures of a task."""
        return Pictures(self.path(task_id).parent)

    def state(self, task_id: str) -> State:
        """Return what tells whether a task has changed."""
        try:
            entry = self.path(task_id).stat()
        except FileNotFoundError:
            raise _no_such_task(task_id) from None
        return entry.st_mtime_ns, entry.st_size, entry.st_ino

    def load(self, task_id: str) -> StoredTask:
        """Return a task that is ready to answer."""
        path = self.path(task_id)
        state = self.state(task_id)
        try:
            with self._lock:
                known = self._ready.get(task_id)
                if known is not None and known[0] == state:
                    self._ready.move_to_end(task_id)
                    return known[1]
            fitted, info = load_fitted(path, None, DEVICE)
        except ModelError as error:
            if not path.exists():  # it was deleted meanwhile
                raise _no_such_task(task_id) from None
            detail = f"The file of this task cannot be read ({error}). Delete the task."
            raise Problem(409, detail.replace(str(path), "it")) from error
        task = StoredTask(task_id, fitted, info, state[0] / 1e9)
        with self._lock:
            self._ready[task_id] = (state, task)
            while len(self._ready) > IN_MEMORY:
                self._ready.popitem(last=False)
        return task

    # --- changing

    def create(self, fitted: Fitted, info: TaskInfo, pictures: Sequence[NewPicture] = ()) -> str:
        """Store a new task and return its id."""
        if len(self.ids()) >= self.most:
            detail = f"There are {self.most:,} tasks already. Delete some that are not needed."
            raise Problem(409, detail)
        task_id = secrets.token_hex(8)
        hidden = self.root / f"{NEW}{task_id}"
        hidden.mkdir()
        try:
            Pictures(hidden).add(pictures)
            _write(hidden / FILE, fitted, info, info.support)
            hidden.rename(self.root / task_id)
        except BaseException:
            shutil.rmtree(hidden, ignore_errors=True)
            raise
        _flush_folder(self.root)
        return task_id

    @contextlib.contextmanager
    def changing(self, task_id: str) -> Iterator[StoredTask]:
        """Return a task that nobody else changes within the block."""
        # One lock for all tasks: it is held for the milliseconds of a fit, not while images are
        # read.
        with FileLock(self.root / ".lock"):
            yield self.load(task_id)

    def replace(
        self,
        task: StoredTask,
        fitted: Fitted,
        names: SupportNames | None,
        pictures: Sequence[NewPicture] = (),
    ) -> None:
        """Store what a task has become; to be called within `changing`."""
        stored = self.pictures(task.id)
        stored.add(pictures)
        _write(self.path(task.id), fitted, task.info, names)
        if names is not None:
            stored.keep_only(set(names.digests))

    def delete(self, task_id: str) -> None:
        """Delete a task."""
        path = self.path(task_id)
        with FileLock(self.root / ".lock"):
            removed = self.root / f"{OLD}{task_id}"
            try:
                path.parent.rename(removed)
            except FileNotFoundError:
                raise _no_such_task(task_id) from None
        with self._lock:
            self._ready.pop(task_id, None)
        shutil.rmtree(removed, ignore_errors=True)

    def _remove_leftovers(self) -> None:
        """Remove what a server that was killed has left behind."""
        for path in self.root.iterdir():
            if path.name.startswith(OLD):
                shutil.rmtree(path, ignore_errors=True)
            if path.name.startswith(NEW):
                with contextlib.suppress(OSError):
                    if time.time() - path.stat().st_mtime > ABANDONED:
                        shutil.rmtree(path, ignore_errors=True)
        for task_id in self.ids():
            remove_leftovers(self.root / task_id)
            remove_leftovers(self.pictures(task_id).folder)


def _write(path: Path, fitted: Fitted, info: TaskInfo, names: SupportNames | None) -> None:
    measured = fitted.leave_one_out(info.parameters)
    save_fitted(path, fitted, info.model, info.parameters, measured, names)


def _no_such_task(task_id: str) -> Problem:
    return Problem(404, f"There is no task {task_id[:16]!r}. GET /v1/tasks lists those there are.")


def _flush_folder(folder: Path) -> None:
    """Let the disk know of a new name, so that it survives a loss of power too."""
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
