"""The file of a fitted task: one safetensors file without images and without code."""

import dataclasses
import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch
from safetensors import safe_open
from safetensors.torch import save
from torch import Tensor

from samovar.classifier.fitted_task import FittedTask
from samovar.core.files import write_whole
from samovar.errors import ModelError

FORMAT = 1
LARGEST_HEADER = 50_000_000
"""Bytes of class names and the rest that a task file may claim; more is not a task file."""


@dataclass(frozen=True)
class TaskInfo:
    """What a task file says besides its sums."""

    model: str
    """The name or path of the model that it belongs to."""
    identity: str
    """The model's hash."""
    parameters: dict[str, Any]
    """samples, reject, reject_label, seed of the classifier."""
    leave_one_out: dict[str, Any] | None = None
    """How well the support answers for itself, where that could be measured."""
    spread: float | None = None
    """How far support images are from each other, as a ratio to what the model has measured (`Rejection.spread`)."""


def write_task(path: Path, task: FittedTask, info: TaskInfo) -> None:
    """One safetensors file: no images, no code."""
    plain = [_plain(label) for label in task.classes]
    parameters = {name: _plain(value) for name, value in info.parameters.items()}
    unnamed = parameters["reject_label"]
    for label in plain if unnamed is None else [*plain, unnamed]:
        if type(label) not in (str, int, float, bool):
            raise ModelError(
                f"The label {label!r} cannot be stored; use text or numbers for labels of a task that is saved."
            )
    head = {"format": FORMAT, "library": "samovar", "classes": plain} | dataclasses.asdict(info)
    head["parameters"] = parameters
    tensors = {"totals": task.totals, "counts": task.counts}
    if task.conditioned is not None:
        tensors["conditioned"] = task.conditioned
    write_whole(path, save(tensors, {"samovar": json.dumps(head)}))


def _plain(value: Any) -> Any:
    """A NumPy scalar as Python's own, which JSON knows."""
    return value.item() if isinstance(value, np.generic) else value


def read_task(path: Path) -> tuple[FittedTask, TaskInfo]:
    """Read and check a task file; whoever made it may have made mistakes, or worse."""
    try:
        with path.open("rb") as beginning:
            size = int.from_bytes(beginning.read(8), "little")
        if size > LARGEST_HEADER:
            raise ValueError(f"its header claims {size:,} bytes")
        with safe_open(str(path), "pt") as file:
            head = json.loads((file.metadata() or {})["samovar"])
            tensors = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118
        if head["format"] != FORMAT:
            raise ModelError(f"{path} has format {head['format']}, this version reads {FORMAT}.")
        info = TaskInfo(*(head.get(field.name) for field in dataclasses.fields(TaskInfo)))
        task = FittedTask(
            tuple(head["classes"]),
            tensors.pop("totals"),
            tensors.pop("counts"),
            tensors.pop("conditioned", None),
        )
        _check(task, info, tensors)
    except ModelError:
        raise
    except (
        Exception
    ) as error:  # safetensors, JSON and shapes fail in many ways, which mean the same to the user
        raise ModelError(f"{path} is not a task file that can be read ({error}).") from error
    return task, info


def _check(task: FittedTask, info: TaskInfo, others: dict[str, Tensor]) -> None:
    labels, counts = task.classes, task.counts
    if (
        others
        or task.totals.ndim != 2
        or counts.shape != (len(labels),)
        or len(task.totals) != len(labels)
    ):
        raise ValueError("its tensors do not fit its classes")
    if task.totals.dtype != torch.float64 or counts.dtype != torch.int64 or not _sane(task.totals):
        raise ValueError("its sums are not finite numbers of the right kind")
    if task.conditioned is not None and (
        task.conditioned.shape != task.totals.shape or not _sane(task.conditioned)
    ):
        raise ValueError("its conditioned sums do not fit")
    if not labels or len(set(labels)) != len(labels) or (counts < 1).any():
        raise ValueError("it needs classes, each once and with images")
    if not all(isinstance(label, str | int | float | bool) for label in labels):
        raise ValueError("its labels are neither text nor numbers")
    if not isinstance(info.model, str) or not isinstance(info.identity, str):
        raise ValueError("it does not say which model it belongs to")
    _check_parameters(info.parameters)
    measured = info.leave_one_out
    if measured is not None and not (
        set(measured) == {"images", "accuracy", "rejected"}
        and all(isinstance(measured[name], int | float) for name in ("images", "accuracy"))
        and isinstance(measured["rejected"], int | float | None)
    ):
        raise ValueError("its leave-one-out figures are not those of this version")
    if info.spread is not None and not (
        isinstance(info.spread, int | float) and 0 <= info.spread < float("inf")
    ):
        raise ValueError(f"its spread is {info.spread!r}")


def _sane(sums: Tensor) -> bool:
    """What overflows float32 once it is squared is no sum of features; NaN is none either."""
    return bool((sums.abs() < 1e15).all())


def _check_parameters(parameters: Any) -> None:
    """Those of a classifier, each of its kind."""
    kinds = {
        "samples": (int,),
        "reject": (int, float, type(None)),
        "reject_label": (str, int, float, bool, type(None)),
        "seed": (int,),
    }
    if not isinstance(parameters, dict) or set(parameters) != set(kinds):
        raise ValueError("its parameters are not the known ones")
    for name, kind in kinds.items():
        if not isinstance(parameters[name], kind) or (
            isinstance(parameters[name], bool) and name != "reject_label"
        ):
            raise ValueError(f"its {name} is {parameters[name]!r}")
