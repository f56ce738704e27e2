"""What the routes do, without HTTP: every function here works on the disk and the processor.

The routes call these in the threads of `Work`. They take what a client has sent and return
documents, or raise a `Problem`.
"""

from collections.abc import Sequence
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path
from typing import Any

from starlette.datastructures import UploadFile

from samovar.classifier.fitted_regression import FittedRegression
from samovar.classifier.loading import fit_task
from samovar.classifier.task_file import TaskInfo
from samovar.core.progress import Progress
from samovar.service.adopted_task import adopt_task
from samovar.service.answering import answer_uploads, suggest_uploads
from samovar.service.class_map import draw_map
from samovar.service.documents import (
    Answers,
    ChangedTask,
    MapDocument,
    MapPoint,
    TaskDocument,
    TaskSummary,
    summary_of,
    task_fields,
)
from samovar.service.examples import ReadImages, read_uploads, without_copies
from samovar.service.forms import Form
from samovar.service.models import DEVICE, Models, parameters_of
from samovar.service.pictures import draw_pictures
from samovar.service.problems import LOG, Problem, SkippedFile
from samovar.service.settings import ServiceSettings
from samovar.service.stored_task import Example, StoredTask, id_of, with_labels_of
from samovar.service.task_folder import State, TaskFolder
from samovar.service.uploads import Upload, archived_images, stored, uploaded_images


class Service:
    """Tasks, and what can be asked of them."""

    def __init__(self, settings: ServiceSettings) -> None:
        self.settings = settings
        self.limits = settings.limits
        self.models = Models(settings.model)
        self.tasks = TaskFolder(Path(settings.tasks), settings.limits.tasks)
        self._summaries: dict[str, tuple[State, TaskSummary]] = {}
        """What the list says of each task, and when that was."""

    # --- tasks

    def listed(self) -> list[TaskSummary]:
        """Return all tasks, the last changed first; one whose file is damaged is left out."""
        listed = []
        for task_id in self.tasks.ids():
            try:
                listed.append(self._listed(task_id))
            except Problem as problem:
                LOG.warning("The task %s is left out of the list: %s", task_id, problem)
        self._summaries = {summary.id: (state, summary) for state, summary in listed}
        listed.sort(key=lambda entry: entry[0], reverse=True)
        return [summary for _, summary in listed]

    def _listed(self, task_id: str) -> tuple[State, TaskSummary]:
        """Return the summary of a task, made anew only if its file has changed."""
        state = self.tasks.state(task_id)
        known = self._summaries.get(task_id)
        if known is not None and known[0] == state:
            return known
        return state, summary_of(self.tasks.load(task_id), self.models)

    def described(self, task_id: str) -> TaskDocument:
        """Return a task."""
        return TaskDocument.model_validate(self._fields(self.tasks.load(task_id)))

    def created(self, form: Form, progress: Progress) -> ChangedTask:
        """Make a task of examples, or of a task file."""
        task_file = form.file("task")
        if task_file is not None:
            return self._adopted(form, task_file)
        name = form.text("model") or self.models.default
        saved = self.models.ready(name)
        parameters = parameters_of(saved, form.text("reject"))
        with self._uploads(form) as uploads:
            images, notes = without_copies(read_uploads(uploads, saved, name, progress), None)
            self._check_count(len(images.inputs))
            fitted = fit_task(saved, DEVICE, images.inputs, list(images.names().labels))
            keep = self.settings.keep_images
            pictures = draw_pictures(images, keep=keep, progress=progress)
            place = self.models.stored[name]
            info = TaskInfo(place, saved.identity, parameters, support=images.names())
            task_id = self.tasks.create(fitted, info, pictures)
        return self._changed(task_id, len(images.inputs), images.skipped, notes)

    def _adopted(self, form: Form, file: UploadFile) -> ChangedTask:
        others = form.files("files") or form.file("archive") or form.text("model")
        if others or form.text("reject"):
            raise Problem(422, "A task file is sent alone: it says its model and its examples.")
        with stored(file, ".safetensors") as path:
            fitted, info = adopt_task(path, self.models, self.limits)
        task_id = self.tasks.create(fitted, info)
        return self._changed(task_id, int(fitted.task.counts.sum()), [], [])

    # --- examples

    def grown(self, task_id: str, form: Form, progress: Progress) -> ChangedTask:
        """Add examples or classes to a task."""
        before = self.tasks.load(task_id)
        with self._uploads(form) as uploads:
            read = read_uploads(uploads, before.fitted.saved, before.info.model, progress)
            keep = self.settings.keep_images
            pictures = draw_pictures(read, keep=keep, progress=progress)
            # Only now, since images take long to read and others may add some as well.
            with self.tasks.changing(task_id) as task:
                added, notes = self._new_images(task, read)
                if added.inputs:
                    names = with_labels_of(task, added.names())
                    fitted = task.fitted.extended(added.inputs, list(names.labels))
                    self.tasks.replace(task, fitted, task.names + names, pictures)
        return self._changed(task_id, len(added.inputs), read.skipped, notes)

    def _new_images(self, task: StoredTask, read: ReadImages) -> tuple[ReadImages, list[str]]:
        """Return the images that a task does not have yet, and notes about copies."""
        if not task.examples and not isinstance(task.fitted, FittedRegression):
            raise Problem(409, "This task does not know its examples, so none can be added.")
        images, notes = without_copies(read, task.names)
        self._check_count(sum(task.counts) + len(images.inputs))
        return images, notes

    def without_example(self, task_id: str, example_id: str) -> TaskDocument:
        """Delete an example."""
        with self.tasks.changing(task_id) as task:
            example = _example(task, example_id)
            self._shrink(task, {example.position})
        return self.described(task_id)

    def without_class(self, task_id: str, class_id: str) -> TaskDocument:
        """Delete a class with all its examples."""
        with self.tasks.changing(task_id) as task:
            label = _class_label(task, class_id)
            self._shrink(task, {e.position for e in task.examples if e.label == label})
        return self.described(task_id)

    def _shrink(self, task: StoredTask, positions: set[int]) -> None:
        fitted, names = task.without(positions)
        self.tasks.replace(task, fitted, names)

    def thumbnail(self, task_id: str, example_id: str) -> bytes:
        """Return the thumbnail of an example as a JPEG file."""
        example = _example(self.tasks.load(task_id), example_id)
        content = self.tasks.pictures(task_id).thumbnail(example.digest)
        if content is None:
            raise Problem(404, "There is no thumbnail: this task came as a file, without images.")
        return content

    def original(self, task_id: str, example_id: str) -> tuple[bytes, str]:
        """Return the image of an example, with its media type, if images are kept."""
        example = _example(self.tasks.load(task_id), example_id)
        kept = self.tasks.pictures(task_id).original(example.digest)
        if kept is None:
            raise Problem(404, "This image was not kept; the server was not asked to keep images.")
        return kept

    # --- questions

    def answered(self, task_id: str, form: Form, progress: Progress) -> Answers:
        """Answer images."""
        uploads = uploaded_images(form.files("files"), None, self.limits)
        return answer_uploads(self.tasks.load(task_id), uploads, progress)

    def suggested(self, task_id: str, form: Form, progress: Progress) -> Answers:
        """Return which images to label next."""
        count = _count(form.text("count"))
        uploads = uploaded_images(form.files("files"), None, self.limits)
        return suggest_uploads(self.tasks.load(task_id), uploads, count, progress)

    def mapped(self, task_id: str) -> MapDocument:
        """Return the map of a task's examples."""
        task = self.tasks.load(task_id)
        if not isinstance(task.fitted, FittedRegression):
            raise Problem(409, f"The model {task.info.model} keeps only sums, so there is no map.")
        drawn = draw_map(task.fitted, task.info.parameters.reject)
        points = []
        for example in task.examples:
            x, y = drawn.points[example.position].tolist()
            answered = task.wrong.get(example.position)
            point = MapPoint(
                example=example.id,
                label=str(example.label),
                x=x,
                y=y,
                answered=None if answered is None else str(answered),
                outlier=bool(drawn.outliers[example.position]),
            )
            points.append(point)
        return MapDocument(points=points, explained=drawn.explained)

    # --- common to several

    def _uploads(self, form: Form) -> AbstractContextManager[list[Upload]]:
        """Return the labelled images of a form, which may be an archive."""
        archive = form.file("archive")
        if archive is None:
            labels = form.texts("labels")
            return nullcontext(uploaded_images(form.files("files"), labels, self.limits))
        if form.files("files") or form.texts("labels"):
            raise Problem(422, "Send either an archive, or files and labels.")
        return archived_images(archive, self.limits)

    def _check_count(self, examples: int) -> None:
        most = self.limits.examples
        if examples > most:
            detail = f"A task may have {most:,} examples; this one would have {examples:,}."
            raise Problem(413, detail)

    def _fields(self, task: StoredTask) -> dict[str, Any]:
        thumbnails = self.tasks.pictures(task.id).digests()
        return task_fields(task, self.models, thumbnails, keeps=self.settings.keep_images)

    def _changed(
        self, task_id: str, added: int, skipped: Sequence[SkippedFile], notes: list[str]
    ) -> ChangedTask:
        fields = self._fields(self.tasks.load(task_id))
        return ChangedTask.model_validate(
            fields | {"added": added, "skipped": list(skipped), "notes": notes}
        )


def _example(task: StoredTask, example_id: str) -> Example:
    for example in task.examples:
        if example.id == example_id:
            return example
    raise Problem(404, "The task has no such example. GET the task to see those it has.")


def _class_label(task: StoredTask, class_id: str) -> object:
    for label in task.classes:
        if id_of(label) == class_id:
            return label
    raise Problem(404, "The task has no such class. GET the task to see those it has.")


def _count(text: str | None) -> int:
    if text is None:
        return 1
    if not text.isascii() or not text.isdigit() or not 1 <= int(text[:6]) <= 1000:
        raise Problem(422, "count must be a whole number from 1 to 1000.")
    return int(text[:6])
