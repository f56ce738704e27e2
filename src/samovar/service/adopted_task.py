"""A task file that a client sends: checked before it becomes a task of the service.

The reader of task files checks types, shapes and sizes. Here it is made sure that the file belongs
to a model of this server, names no encoder or place of its own, and has texts that can be shown.
"""

from dataclasses import replace
from pathlib import Path

from samovar.classifier.loading import Fitted, load_fitted
from samovar.classifier.support_names import SupportNames
from samovar.classifier.task_file import TaskInfo, read_task
from samovar.errors import ModelError
from samovar.service.models import DEVICE, Models
from samovar.service.problems import Problem
from samovar.service.settings import Limits
from samovar.service.stored_task import is_id
from samovar.service.uploads import checked_label, shown_name

MOST_SAMPLES = 1000
"""Sampled classifiers of an answer: more of them take long, and tell nothing new."""


def adopt_task(path: Path, models: Models, limits: Limits) -> tuple[Fitted, TaskInfo]:
    """Read the file of a task that somebody else has fitted."""
    try:
        task, info = read_task(path)
        _check(info, models)
        if int(task.counts.sum()) > limits.examples:
            raise Problem(413, f"The task has more than {limits.examples:,} examples.")
        for label in task.classes:
            checked_label(str(label))
        if info.support is not None:
            info = replace(info, support=_checked_names(info.support))
        fitted, _ = load_fitted(path, None, DEVICE)
        # The label of rejected images is the same for all tasks here.
        parameters = replace(info.parameters, reject_label="none of these")
        return fitted, replace(info, parameters=parameters)
    except ModelError as error:
        raise Problem(422, str(error).replace(str(path), "The task file")) from error


def _check(info: TaskInfo, models: Models) -> None:
    if models.name_of(info.model) is None:
        known = ", ".join(models.stored)
        raise Problem(422, f"The task belongs to a model that is not here. There are: {known}.")
    if info.encoder is not None:
        raise Problem(422, "The task was made with an encoder of its own, which is not here.")
    if info.parameters.samples > MOST_SAMPLES:
        raise Problem(422, f"The task asks for more than {MOST_SAMPLES:,} sampled classifiers.")


def _checked_names(names: SupportNames) -> SupportNames:
    """Return the names as they may be shown; checksums become names of files, so they are strict.

    What leave-one-out found is measured again.
    """
    for digest in names.digests:
        if not is_id(digest):
            raise Problem(422, "The task file has checksums that are none.")
    shown = tuple(shown_name(name) for name in names.names)
    return SupportNames(shown, names.labels, names.digests)
