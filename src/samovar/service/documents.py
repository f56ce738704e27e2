"""The JSON documents that the service sends, as OpenAPI describes them."""

from datetime import UTC, datetime
from typing import Any

from pydantic import BaseModel, Field

from samovar.service.models import Models
from samovar.service.problems import SkippedFile
from samovar.service.stored_task import StoredTask, id_of


class ClassDocument(BaseModel):
    """A class of a task."""

    id: str
    name: str
    examples: int = Field(description="How many examples it has.")


class ExampleDocument(BaseModel):
    """An example of a task."""

    id: str
    name: str = Field(description="What the file was called.")
    label: str = Field(description="The name of its class.")
    thumbnail: bool = Field(description="Whether there is a thumbnail of it.")
    answered: str | None = Field(
        description="The class that the other examples take it for, where that is another one: "
        "perhaps its label is wrong."
    )


class LeaveOneOutDocument(BaseModel):
    """How well each example is answered by the others."""

    images: int
    accuracy: float
    rejected: float | None = Field(description="The share that is none of these.")


class TaskSummary(BaseModel):
    """A task in the list of tasks."""

    id: str
    model: str
    classes: list[ClassDocument]
    changed: str = Field(description="When it was changed last, in UTC.")


class TaskDocument(TaskSummary):
    """A task."""

    reject: float | None = Field(
        description="The share of images that belong and may be called none of these by mistake; "
        "null where nothing is."
    )
    rejection: str = Field(description="What that means for this task, in words.")
    examples: list[ExampleDocument]
    leave_one_out: LeaveOneOutDocument | None = Field(
        description="Null where no class has two examples."
    )
    keeps_images: bool = Field(
        description="Whether the server keeps the images themselves, and not only thumbnails."
    )


class ChangedTask(TaskDocument):
    """A task after examples were added to it."""

    added: int = Field(description="How many examples are new.")
    skipped: list[SkippedFile] = Field(description="Files that could not be used.")
    notes: list[str] = Field(description="Copies and contradictions among the images.")


class AnswerDocument(BaseModel):
    """The answer to an image."""

    name: str = Field(description="What the file was called.")
    position: int = Field(description="Where it stood among the files of the request, from 0.")
    label: str = Field(description="The most probable class, or: none of these.")
    best: str = Field(description="The most probable class, also where it is none of these.")
    probabilities: dict[str, float] = Field(description="Of each class; they sum to one.")
    spread: dict[str, float] | None = Field(
        description="The standard deviation of each probability over the sampled classifiers."
    )
    prediction_set: list[str] | None = Field(
        description="The classes that it may well be, the most probable first; empty means none "
        "of these. Null where no set can be given."
    )
    entropy: float = Field(description="How uncertain the answer is, in nats.")
    mutual_information: float | None = Field(
        description="How much the sampled classifiers disagree, in nats."
    )
    rejected: bool = Field(description="Whether it is none of these.")
    distance: float = Field(description="How little it belongs to the classes.")


class Answers(BaseModel):
    """The answers to the images of a request."""

    answers: list[AnswerDocument]
    skipped: list[SkippedFile] = Field(description="Files that could not be used.")


class MapPoint(BaseModel):
    """An example on the class map."""

    example: str = Field(description="The id of the example.")
    label: str
    x: float
    y: float
    answered: str | None = Field(description="Where it is taken for another class: which.")
    outlier: bool = Field(description="Whether the other examples would call it none of these.")


class MapDocument(BaseModel):
    """A map of the examples of a task."""

    points: list[MapPoint]
    explained: float = Field(description="The share of the variance that the map shows.")


class Health(BaseModel):
    """Whether the server is there."""

    status: str


def summary_of(task: StoredTask, models: Models) -> TaskSummary:
    """Return a task as the list of tasks shows it."""
    return TaskSummary(**_summary(task, models))


def task_fields(
    task: StoredTask, models: Models, thumbnails: set[str], *, keeps: bool
) -> dict[str, Any]:
    """Return the fields of a `TaskDocument`."""
    examples = []
    for example in task.examples:
        answered = task.wrong.get(example.position)
        examples.append(
            ExampleDocument(
                id=example.id,
                name=example.name,
                label=str(example.label),
                thumbnail=example.digest in thumbnails,
                answered=None if answered is None else str(answered),
            )
        )
    measured = None
    if task.measured is not None:
        measured = LeaveOneOutDocument(**task.measured.to_json())
    parameters = task.info.parameters
    return _summary(task, models) | {
        "reject": parameters.reject,
        "rejection": task.fitted.rejection_note(parameters.reject),
        "examples": examples,
        "leave_one_out": measured,
        "keeps_images": keeps,
    }


def _summary(task: StoredTask, models: Models) -> dict[str, Any]:
    classes = []
    for label, count in zip(task.classes, task.counts, strict=True):
        classes.append(ClassDocument(id=id_of(label), name=str(label), examples=count))
    changed = datetime.fromtimestamp(task.changed, UTC).isoformat(timespec="seconds")
    return {
        "id": task.id,
        "model": models.name_of(task.info.model) or task.info.model,
        "classes": classes,
        "changed": changed,
    }
