"""The task file that a command is given, looked at before anything heavy is loaded."""

from collections.abc import Sequence
from pathlib import Path

from samovar.errors import DataError, ModelError

TASK_SUFFIX = ".safetensors"


def check_task(task: Path, images: Sequence[Path] = ()) -> None:
    """Refuse a task that is not there, and arguments that were given in the wrong order."""
    if task.is_dir() or _is_image(task):
        kind = "a folder" if task.is_dir() else "an image"
        named = ""
        for path in images:
            if path.suffix == TASK_SUFFIX:
                named = f" Did you mean {path} as the task?"
        raise ModelError(
            f"{task} is {kind}, not a task file. The task comes first, then the images: samovar "
            f"predict TASK IMAGE...{named}"
        )
    if not task.exists():
        raise DataError(
            f"There is no task file {task}, so it is not a task file that can be read. `samovar "
            "fit` makes one from a few labelled images."
        )


def _is_image(path: Path) -> bool:
    from samovar.data.images.folder_walk import HEAD, begins_like_image

    if not path.is_file() or path.suffix == TASK_SUFFIX:
        return False
    try:
        with path.open("rb") as file:
            return begins_like_image(file.read(HEAD))
    except OSError:  # whoever reads it as a task will say what is wrong
        return False
