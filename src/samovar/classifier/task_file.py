"""The file of a fitted task: one safetensors file without images and without code.

A user may get a task file from anyone, so `read_task` trusts nothing: neither the size that the
header claims, nor the types, shapes and values inside. The keys and their order are those of
`TaskInfo`, `AnswerParameters` and `LeaveOneOut`.
"""

import dataclasses
import json
import os
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

import msgspec
import numpy as np
import torch
from safetensors import SafetensorError, safe_open
from safetensors.torch import save
from torch import Tensor

from samovar.classifier.answer import AnswerParameters
from samovar.classifier.fitted_task import FittedTask
from samovar.classifier.known_scores import KnownScores
from samovar.classifier.leave_one_out import LeaveOneOut
from samovar.classifier.regression_task import RegressionTask
from samovar.classifier.support_names import SupportNames, WrongImage
from samovar.core.files import write_whole
from samovar.core.input_files import check_size, open_input
from samovar.core.stored_json import LARGEST_NUMBER, parse_json
from samovar.encoders.encoder_facts import EncoderFacts
from samovar.errors import DataError, ModelError, SettingsError, UnreadableError
from samovar.models.closed_form import GRID
from samovar.settings.checked import checked

FORMAT = 1
REGRESSION_FORMAT = 2
"""Of tasks that hold an encoder's vectors instead of sums."""
LARGEST_HEADER = 50_000_000
"""Most bytes of names and settings; a file that claims more is not a task file."""
LARGEST_TASK = 1_000_000_000
"""Bytes of a task file: the vectors of 200,000 images."""
TENSORS = {"totals", "counts", "conditioned", "vectors", "numbers"}
LARGEST_SUM = 1e15
"""Larger numbers are not sums of features; from 1e19 on their squares overflow float32."""
Label = str | int | float | bool


@dataclass(frozen=True)
class TaskInfo:
    """What a task file says besides its sums."""

    model: str
    """The name or path of the model that it belongs to."""
    identity: str
    """The model's hash."""
    parameters: AnswerParameters
    leave_one_out: LeaveOneOut | None = None
    """How well support images are classified by the others, where that could be measured."""
    spread: float | None = None
    """How far the support images lie from each other, relative to the measured tasks."""
    encoder: EncoderFacts | None = None
    """The encoder that the user has named instead of the model's own."""
    support: SupportNames | None = None
    """The file names of the support images, where they are known."""
    held_out: KnownScores | None = None
    """The scores of held-out images, by which prediction sets are made."""
    left_out_scores: KnownScores | None = None
    """The scores of left-out support images, where the task does not keep their vectors."""
    temperature: tuple[float, ...] | None = None
    """What the support says of the task's own temperature: weights of a grid."""

    @property
    def wrong(self) -> tuple[WrongImage, ...]:
        """The images that leave-one-out has answered wrongly, where their names are known."""
        if self.support is None:
            return ()
        return self.support.wrong


def write_task(path: Path, task: FittedTask | RegressionTask, info: TaskInfo) -> None:
    """Write a task file; what could not be read again is refused."""
    try:
        _check(task)
    except UnreadableError as error:
        raise ModelError(f"The task cannot be stored: {error}.") from error
    head = _header(task, info)
    content = save(_tensors(task), {"samovar": json.dumps(head)})
    _check_sizes(content)
    write_whole(path, content)


def _header(task: FittedTask | RegressionTask, info: TaskInfo) -> dict[str, Any]:
    """Return what the file says in JSON."""
    version = REGRESSION_FORMAT if isinstance(task, RegressionTask) else FORMAT
    head: dict[str, Any] = {"format": version, "library": "samovar"}
    head["classes"] = [_storable(label) for label in task.classes]
    head |= dataclasses.asdict(info)
    # What is not known is left out, so that files without it are those of earlier versions.
    for name in ("encoder", "support", "held_out", "left_out_scores"):
        del head[name]
        part = getattr(info, name)
        if part is not None:
            head[name] = part.to_json()
    if info.temperature is None:
        del head["temperature"]
    if isinstance(info.leave_one_out, LeaveOneOut):
        head["leave_one_out"] = info.leave_one_out.to_json()
    parameters = head["parameters"]
    for name, value in parameters.items():
        parameters[name] = _python_value(value)
    if parameters["reject_label"] is not None:
        _storable(parameters["reject_label"])
    return head


def _check_sizes(content: bytes) -> None:
    """Refuse a file that `_read` would refuse."""
    header = int.from_bytes(content[:8], "little")
    for size, most in ((len(content), LARGEST_TASK), (header, LARGEST_HEADER)):
        if size > most:
            raise ModelError(
                f"The task has {size:,} bytes, but at most {most:,} can be stored. Fit it to fewer "
                "images."
            )


def _tensors(task: FittedTask | RegressionTask) -> dict[str, Tensor]:
    if isinstance(task, RegressionTask):
        return {"vectors": _smallest_form(task.vectors), "numbers": task.numbers}
    tensors = {"totals": task.totals, "counts": task.counts}
    if task.conditioned is not None:
        tensors["conditioned"] = task.conditioned
    return tensors


def _smallest_form(vectors: Tensor) -> Tensor:
    """Return vectors as float16 if not a bit of them is lost by it, else as they are.

    Rounded vectors would give other answers (by 1e-4), and a task that grows from a file would no
    longer be the one that is fitted to everything at once.
    """
    half = vectors.half()
    if torch.equal(half.float(), vectors):
        return half.contiguous()
    return vectors.contiguous()


def _full_form(vectors: Tensor) -> Tensor:
    """Return vectors that `_smallest_form` has stored as they were."""
    if vectors.dtype == torch.float16:
        return vectors.float()
    return vectors


def _python_value(value: Any) -> Any:
    """Return a NumPy scalar as Python's own, which JSON knows."""
    if isinstance(value, np.generic):
        return value.item()
    return value


def _storable(label: Any) -> Any:
    """Return a label as JSON holds it, or refuse it."""
    value = _python_value(label)
    # JSON has no NaN, and its readers take no numbers of more than 63 bits.
    number = isinstance(value, int | float) and abs(value) <= LARGEST_NUMBER[type(value)]
    if type(value) is not str and not number:
        raise ModelError(
            f"The label {label!r} cannot be stored. "
            "Use text or numbers as labels of a task that is saved."
        )
    return value


def read_task(path: Path) -> tuple[FittedTask | RegressionTask, TaskInfo]:
    """Read and check a task file."""
    try:
        head, tensors = _read(path)
        version = head.get("format")
        if version not in (FORMAT, REGRESSION_FORMAT):
            raise ModelError(
                f"{path} has format {version!r}; this version reads {FORMAT} and "
                f"{REGRESSION_FORMAT}."
            )
        classes = tuple(checked(_Classes, head).classes)
        task = _task(version, classes, tensors)
        _check(task)
        return task, _checked_info(head, task)
    except (OSError, DataError, UnreadableError, SettingsError, SafetensorError) as error:
        reason = str(error).removesuffix(".")
        raise ModelError(f"{path} is not a task file that can be read ({reason}).") from error


def _read(path: Path) -> tuple[dict[str, Any], dict[str, Tensor]]:
    """Return the JSON header and the tensors, after a look at the sizes that the file claims."""
    with open_input(path) as beginning:
        size = int.from_bytes(beginning.read(8), "little")
        check_size(beginning.seek(0, os.SEEK_END), LARGEST_TASK, path)
    if size > LARGEST_HEADER:
        raise UnreadableError(f"its header claims {size:,} bytes")
    with safe_open(str(path), "pt") as file:
        head = parse_json((file.metadata() or {}).get("samovar", ""), dict[str, Any])
        names = set(file.keys())
        if not names <= TENSORS:
            raise UnreadableError("it has tensors that no task has")
        tensors = {name: file.get_tensor(name) for name in names}
    return head, tensors


def _task(
    version: int, classes: tuple[Label, ...], tensors: dict[str, Tensor]
) -> FittedTask | RegressionTask:
    """Return the task of the tensors, none of which may be left over."""
    optional = None
    try:
        if version == REGRESSION_FORMAT:
            vectors = _full_form(tensors.pop("vectors"))
            task: FittedTask | RegressionTask = RegressionTask(
                classes, vectors, tensors.pop("numbers")
            )
        else:
            optional = tensors.pop("conditioned", None)
            task = FittedTask(classes, tensors.pop("totals"), tensors.pop("counts"), optional)
    except KeyError as error:
        raise UnreadableError(f"it has no tensor {error}") from error
    if tensors:
        raise UnreadableError("it has tensors of another kind of task")
    return task


def _check(task: FittedTask | RegressionTask) -> None:
    """Refuse a task whose tensors do not fit each other and its classes."""
    if isinstance(task, RegressionTask):
        _check_vectors(task)
    else:
        _check_sums(task)
    _check_classes(task.classes, task.counts)


def _check_vectors(task: RegressionTask) -> None:
    """Check that the tensors are an encoder's vectors, and the classes of their images."""
    if task.vectors.ndim != 2 or task.numbers.shape != task.vectors.shape[:1]:
        raise UnreadableError("its tensors do not fit each other")
    if task.vectors.dtype != torch.float32 or task.numbers.dtype != torch.int64:
        raise UnreadableError("its vectors are not of the right type")
    if not task.vectors.numel() or not _plausible(task.vectors):
        raise UnreadableError("its vectors are not plausible numbers")
    way = len(task.classes)
    if int(task.numbers.min()) < 0 or int(task.numbers.max()) >= way:
        raise UnreadableError("its images belong to classes that it does not have")


def _check_sums(task: FittedTask) -> None:
    """Check that the tensors are sums of features of the classes."""
    way = len(task.classes)
    if task.totals.ndim != 2 or len(task.totals) != way or task.counts.shape != (way,):
        raise UnreadableError("its tensors do not fit its classes")
    if task.totals.dtype != torch.float64 or task.counts.dtype != torch.int64:
        raise UnreadableError("its sums are not of the right type")
    if not _plausible(task.totals):
        raise UnreadableError("its sums are not plausible numbers")
    conditioned = task.conditioned
    if conditioned is None:
        return
    if conditioned.shape != task.totals.shape or conditioned.dtype != torch.float64:
        raise UnreadableError("its conditioned sums do not fit its sums")
    if not _plausible(conditioned):
        raise UnreadableError("its conditioned sums are not plausible numbers")


def _check_classes(classes: tuple[Any, ...], counts: Tensor) -> None:
    if not classes or len(set(classes)) != len(classes) or (counts < 1).any():
        raise UnreadableError("it must have classes, each once and with images")


def _plausible(sums: Tensor) -> bool:
    """Return whether these can be sums of features; NaN and infinity fail the comparison."""
    if not sums.numel():
        return True
    low, high = sums.aminmax()
    return bool(low > -LARGEST_SUM and high < LARGEST_SUM)


@dataclass(frozen=True)
class _Classes:
    """The labels in the header of a task file."""

    classes: list[Label]


@dataclass(frozen=True)
class _Parameters:
    """The parameters in the header; `AnswerParameters` takes more than JSON can hold."""

    samples: int
    reject: float | None
    reject_label: Label | None
    seed: int


@dataclass(frozen=True)
class _LeftOut:
    """The leave-one-out results in the header."""

    images: int
    accuracy: float
    rejected: float | None


@dataclass(frozen=True)
class _Info:
    """What else the header says."""

    model: str
    identity: str
    parameters: _Parameters
    leave_one_out: _LeftOut | None = None
    spread: Annotated[float, msgspec.Meta(ge=0)] | None = None
    encoder: dict[str, Any] | None = None
    support: dict[str, Any] | None = None
    temperature: tuple[Annotated[float, msgspec.Meta(ge=0, le=1)], ...] | None = None
    held_out: dict[str, Any] | None = None
    left_out_scores: dict[str, Any] | None = None


def _checked_info(head: dict[str, Any], task: FittedTask | RegressionTask) -> TaskInfo:
    """Check the header and return what it says besides the classes of the task."""
    info = checked(_Info, head)
    parameters = AnswerParameters(**vars(info.parameters))
    measured = None
    if info.leave_one_out is not None:
        measured = LeaveOneOut(**vars(info.leave_one_out))
    encoder = None
    if info.encoder is not None:
        encoder = EncoderFacts.from_json(info.encoder)
    support = None
    if info.support is not None:
        counts = dict(zip(task.classes, task.counts.tolist(), strict=True))
        support = _names_of(info.support, counts)
    way = len(task.classes)
    return TaskInfo(
        info.model,
        info.identity,
        parameters,
        measured,
        info.spread,
        encoder,
        support,
        _scores_of(info.held_out, way),
        _scores_of(info.left_out_scores, way),
        _temperature_of(info.temperature),
    )


def _temperature_of(weights: tuple[float, ...] | None) -> tuple[float, ...] | None:
    if weights is not None and (len(weights) != GRID or abs(sum(weights) - 1) > 1e-6):
        raise UnreadableError("the weights of its temperature do not add up")
    return weights


def _scores_of(stored: dict[str, Any] | None, way: int) -> KnownScores | None:
    if stored is None:
        return None
    return KnownScores.from_json(stored, way)


def _names_of(stored: dict[str, Any], counts: dict[Any, int]) -> SupportNames:
    try:
        return SupportNames.from_json(stored, counts)
    except ValueError as error:
        raise UnreadableError(str(error)) from error
