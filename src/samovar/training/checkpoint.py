"""Checkpoints of a run: safetensors and JSON, whole or not there, the last two kept, damage noticed by checksum."""

import hashlib
import json
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from samovar.artifacts.tensors import check_tensors, deserialize, serialize
from samovar.core.files import write_whole
from samovar.errors import RunError, SamovarError
from samovar.models.few_shot_model import FewShotModel

FORMAT = 1
KEPT = 2


@dataclass(frozen=True)
class TrainingProgress:
    """How far a run has come."""

    update: int
    """Updates done."""
    best: float = -1.0
    """Best validation accuracy so far."""
    best_update: int = 0
    waited: int = 0
    """Validations since the best."""
    finished: bool = False


def optimizer_tensors(optimizer: torch.optim.Optimizer, prefix: str) -> dict[str, Tensor]:
    """The state of an optimizer as named tensors."""
    state = optimizer.state_dict()["state"]
    return {
        f"{prefix}.{i}.{key}": torch.as_tensor(value)
        for i, entry in state.items()
        for key, value in entry.items()
    }


def restore_optimizer(
    optimizer: torch.optim.Optimizer, prefix: str, tensors: dict[str, Tensor]
) -> None:
    """The inverse of `optimizer_tensors`."""
    parameters = [parameter for group in optimizer.param_groups for parameter in group["params"]]
    state: dict[int, dict[str, Tensor]] = {}
    for name, tensor in tensors.items():
        kind, index, key = name.split(".", 2)
        if kind == prefix:
            like = parameters[
                int(index)
            ]  # the same memory order too, so that the same code runs as without a stop
            ordered = torch.empty_like(like).copy_(tensor) if tensor.shape == like.shape else tensor
            state.setdefault(int(index), {})[key] = ordered
    optimizer.load_state_dict(
        {"state": state, "param_groups": optimizer.state_dict()["param_groups"]}
    )


def save_checkpoint(
    folder: Path,
    model: FewShotModel,
    optimizers: dict[str, torch.optim.Optimizer],
    progressed: TrainingProgress,
) -> None:
    """Write the state after an update. The JSON comes last: a checkpoint without it is not one."""
    tensors = {f"model.{name}": tensor for name, tensor in model.state_dict().items()}
    for name, optimizer in optimizers.items():
        tensors |= optimizer_tensors(optimizer, name)
    content = serialize(tensors)
    name = f"{progressed.update:08d}"
    write_whole(folder / f"{name}.safetensors", content)
    facts = {
        "format": FORMAT,
        "sha256": hashlib.sha256(content).hexdigest(),
        "progressed": asdict(progressed),
    }
    write_whole(folder / f"{name}.json", json.dumps(facts).encode())
    numbered = sorted(folder.glob("*.json"))
    past = [path for path in numbered if path.stem <= name]
    ahead = [
        path for path in numbered if path.stem > name
    ]  # damaged ones, which an earlier start passed over
    for old in (*past[:-KEPT], *ahead):
        old.unlink()
        old.with_suffix(".safetensors").unlink(missing_ok=True)
    for leftover in folder.glob(
        ".*"
    ):  # of a process that was killed while it wrote: the run is ours alone
        leftover.unlink()


def load_checkpoint(
    folder: Path, model: FewShotModel, optimizers: dict[str, torch.optim.Optimizer]
) -> tuple[TrainingProgress | None, list[str]]:
    """Restore the newest whole checkpoint; returns how far it was, and what was wrong with any passed over."""
    complaints: list[str] = []
    for path in sorted(folder.glob("*.json"), reverse=True):
        try:
            progressed, tensors = _read(path)
        except (OSError, ValueError, KeyError, TypeError, SamovarError) as error:
            complaints.append(f"{path.name} is damaged ({error}) and is passed over")
            continue
        weights = {
            name.removeprefix("model."): t
            for name, t in tensors.items()
            if name.startswith("model.")
        }
        check_tensors(model.state_dict(), weights, path)
        model.load_state_dict(weights)
        for name, optimizer in optimizers.items():
            restore_optimizer(optimizer, name, tensors)
        return progressed, complaints
    if complaints:
        complaints.append("no checkpoint is whole: starting from the beginning")
    return None, complaints


def _read(path: Path) -> tuple[TrainingProgress, dict[str, Any]]:
    facts = json.loads(path.read_bytes())
    if facts["format"] != FORMAT:
        raise RunError(f"format {facts['format']} is not {FORMAT}")
    content = path.with_suffix(".safetensors").read_bytes()
    if hashlib.sha256(content).hexdigest() != facts["sha256"]:
        raise RunError("its checksum is wrong")
    return TrainingProgress(**facts["progressed"]), deserialize(content, path)
