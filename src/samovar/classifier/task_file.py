"""The file of a fitted task: one safetensors file without images and without code.

A user may get a task file from anyone, so `read_task` trusts nothing: neither the size that the
header claims, nor the types, shapes and values inside. The keys and their order are those of
`TaskInfo`, `AnswerParameters` and `LeaveOneOut`.
"""

import dataclasses
import json
import math
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch
from safetensors import safe_open
from safetensors.torch import save
from torch import Tensor

from samovar.classifier.answer import AnswerParameters
from samovar.classifier.fitted_task import FittedTask
from samovar.classifier.leave_one_out import LeaveOneOut
from samovar.classifier.regression_task import RegressionTask
from samovar.classifier.support_names import SupportNames, WrongImage
from samovar.core.files import write_whole
from samovar.encoders.encoder_facts import EncoderFacts
from samovar.errors import ModelError

FORMAT = 1
REGRESSION_FORMAT = 2
"""Of tasks that hold an encoder's vectors instead of sums."""
LARGEST_HEADER = 50_000_000
"""Most bytes of class names and settings; a file that claims more is not a task file."""
LARGEST_SUM = 1e15
"""Larger numbers are not sums of features; from 1e19 on their squares overflow float32."""
PARAMETER_TYPES: dict[str, tuple[type, ...]] = {
    "samples": (int,),
    "reject": (int, float, type(None)),
    "reject_label": (str, int, float, bool, type(None)),
    "seed": (int,),
}


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

    @property
    def wrong(self) -> tuple[WrongImage, ...]:
        """The images that leave-one-out has answered wrongly, where their names are known."""
        if self.support is None:
            return ()
        return self.support.wrong


def write_task(path: Path, task: FittedTask | RegressionTask, info: TaskInfo) -> None:
    """Write a task file; labels that JSON cannot hold are refused."""
    version = REGRESSION_FORMAT if isinstance(task, RegressionTask) else FORMAT
    head: dict[str, Any] = {"format": version, "library": "samovar"}
    head["classes"] = [_storable(label) for label in task.classes]
    head |= dataclasses.asdict(info)
    del head["encoder"], head["support"]
    if info.encoder is not None:
        head["encoder"] = info.encoder.to_json()
    if info.support is not None:
        head["support"] = info.support.to_json()
    if isinstance(info.leave_one_out, LeaveOneOut):
        head["leave_one_out"] = info.leave_one_out.to_json()
    parameters = head["parameters"]
    for name, value in parameters.items():
        parameters[name] = _python_value(value)
    if parameters["reject_label"] is not None:
        _storable(parameters["reject_label"])
    write_whole(path, save(_tensors(task), {"samovar": json.dumps(head)}))


def _tensors(task: FittedTask | RegressionTask) -> dict[str, Tensor]:
    if isinstance(task, RegressionTask):
        return {"vectors": task.vectors.contiguous(), "numbers": task.numbers}
    tensors = {"totals": task.totals, "counts": task.counts}
    if task.conditioned is not None:
        tensors["conditioned"] = task.conditioned
    return tensors


def _python_value(value: Any) -> Any:
    """Return a NumPy scalar as Python's own, which JSON knows."""
    if isinstance(value, np.generic):
        return value.item()
    return value


def _storable(label: Any) -> Any:
    """Return a label as JSON holds it, or refuse it."""
    value = _python_value(label)
    if type(value) not in (str, int, float, bool):
        raise ModelError(
            f"The label {label!r} cannot be stored. "
            "Use text or numbers as labels of a task that is saved."
        )
    return value


def read_task(path: Path) -> tuple[FittedTask | RegressionTask, TaskInfo]:
    """Read and check a task file."""
    try:
        head, tensors = _read(path)
        if head["format"] == REGRESSION_FORMAT:
            regression_task = _regression_task(head, tensors)
            return regression_task, _checked_info(head, regression_task)
        if head["format"] != FORMAT:
            raise ModelError(
                f"{path} has format {head['format']}; this version reads {FORMAT} and "
                f"{REGRESSION_FORMAT}."
            )
        task = FittedTask(
            tuple(head["classes"]),
            tensors.pop("totals"),
            tensors.pop("counts"),
            tensors.pop("conditioned", None),
        )
        _check_task(task, tensors)
        return task, _checked_info(head, task)
    except ModelError:
        raise
    # safetensors, JSON and torch raise errors of many types, which mean the same to the user.
    except Exception as error:
        raise ModelError(f"{path} is not a task file that can be read ({error}).") from error


def _read(path: Path) -> tuple[dict[str, Any], dict[str, Tensor]]:
    """Return the JSON header and the tensors, after a look at the size that the header claims."""
    with path.open("rb") as beginning:
        size = int.from_bytes(beginning.read(8), "little")
    if size > LARGEST_HEADER:
        raise ValueError(f"its header claims {size:,} bytes")
    with safe_open(str(path), "pt") as file:
        head = json.loads((file.metadata() or {})["samovar"])
        tensors = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118 (not a dict)
    return head, tensors


def _regression_task(head: dict[str, Any], tensors: dict[str, Tensor]) -> RegressionTask:
    """Return the task of an encoder's vectors, once everything about it is checked."""
    task = RegressionTask(tuple(head["classes"]), tensors.pop("vectors"), tensors.pop("numbers"))
    if tensors or task.vectors.ndim != 2 or task.numbers.shape != task.vectors.shape[:1]:
        raise ValueError("its tensors do not fit each other")
    if task.vectors.dtype != torch.float32 or task.numbers.dtype != torch.int64:
        raise ValueError("its vectors are not of the right type")
    if not task.vectors.numel() or not _plausible(task.vectors):
        raise ValueError("its vectors are not plausible numbers")
    way = len(task.classes)
    if int(task.numbers.min()) < 0 or int(task.numbers.max()) >= way:
        raise ValueError("its images belong to classes that it does not have")
    _check_classes(task.classes, task.counts)
    return task


def _check_task(task: FittedTask, unknown: dict[str, Tensor]) -> None:
    """Check that the tensors are sums of features of the classes, and that there are no others."""
    way = len(task.classes)
    if unknown or task.totals.ndim != 2 or len(task.totals) != way or task.counts.shape != (way,):
        raise ValueError("its tensors do not fit its classes")
    if task.totals.dtype != torch.float64 or task.counts.dtype != torch.int64:
        raise ValueError("its sums are not of the right type")
    if not _plausible(task.totals):
        raise ValueError("its sums are not plausible numbers")
    if task.conditioned is not None and (
        task.conditioned.shape != task.totals.shape or not _plausible(task.conditioned)
    ):
        raise ValueError("its conditioned sums do not fit its sums")
    _check_classes(task.classes, task.counts)


def _check_classes(classes: tuple[Any, ...], counts: Tensor) -> None:
    if not classes or len(set(classes)) != len(classes) or (counts < 1).any():
        raise ValueError("it must have classes, each once and with images")
    for label in classes:
        if not isinstance(label, str | int | float | bool):
            raise ValueError("its labels are neither text nor numbers")


def _plausible(sums: Tensor) -> bool:
    """Return whether these can be sums of features; NaN and infinity fail the comparison."""
    return bool((sums.abs() < LARGEST_SUM).all())


def _checked_info(head: dict[str, Any], task: FittedTask | RegressionTask) -> TaskInfo:
    """Check the header and return what it says besides the classes of the task."""
    model = head.get("model")
    identity = head.get("identity")
    spread = head.get("spread")
    if not isinstance(model, str) or not isinstance(identity, str):
        raise ValueError("it does not say which model it belongs to")
    parameters = _checked_parameters(head.get("parameters"))
    measured = _checked_leave_one_out(head.get("leave_one_out"))
    if spread is not None and not (isinstance(spread, int | float) and 0 <= spread < math.inf):
        raise ValueError(f"its spread is {spread!r}")
    encoder = None
    if head.get("encoder") is not None:
        encoder = EncoderFacts.from_json(head["encoder"])
    support = None
    if head.get("support") is not None:
        counts = dict(zip(task.classes, task.counts.tolist(), strict=True))
        support = SupportNames.from_json(head["support"], counts)
    return TaskInfo(model, identity, parameters, measured, spread, encoder, support)


def _checked_parameters(stored: Any) -> AnswerParameters:
    if not isinstance(stored, dict) or set(stored) != set(PARAMETER_TYPES):
        raise ValueError("its parameters are not those of a classifier")
    for name, types in PARAMETER_TYPES.items():
        value = stored[name]
        is_flag = isinstance(value, bool) and bool not in types  # True is an int to Python
        if is_flag or not isinstance(value, types):
            raise ValueError(f"its {name} is {value!r}")
    return AnswerParameters(**stored)


def _checked_leave_one_out(stored: Any) -> LeaveOneOut | None:
    if stored is None:
        return None
    if set(stored) != {"images", "accuracy", "rejected"}:
        raise ValueError("its leave-one-out results are not those of this version")
    measured = LeaveOneOut(**stored)
    numbers = isinstance(measured.images, int | float) and isinstance(
        measured.accuracy, int | float
    )
    if not numbers or not isinstance(measured.rejected, int | float | None):
        raise ValueError("its leave-one-out results are not numbers")
    return measured
