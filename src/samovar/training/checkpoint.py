"""Checkpoints of a run: the state after an update, from which the run can go on.

A checkpoint is a safetensors file and a JSON file with its checksum. The JSON is written last, so a
checkpoint without it was never finished. The last two are kept: if one is damaged, which the
checksum tells, the run goes on from the one before and ends with the same bits.
"""

import hashlib
import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

import torch
from torch import Tensor

from samovar.artifacts.tensors import check_tensors, deserialize, serialize
from samovar.core.files import remove_leftovers, write_whole
from samovar.errors import RunError, SamovarError
from samovar.models.few_shot_model import FewShotModel
from samovar.training.optimization import LossOptimizer

FORMAT = 1
KEPT = 2
"""Checkpoints that are kept: the last one, and one to fall back on if it is damaged."""


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
    """Return the state of an optimizer as tensors named prefix.INDEX.KEY."""
    tensors = {}
    for index, state in optimizer.state_dict()["state"].items():
        for key, value in state.items():
            tensors[f"{prefix}.{index}.{key}"] = torch.as_tensor(value)
    return tensors


def restore_optimizer(
    optimizer: torch.optim.Optimizer, prefix: str, tensors: dict[str, Tensor]
) -> None:
    """Restore what `optimizer_tensors` returned; tensors with other prefixes are ignored."""
    parameters: list[Tensor] = []
    for group in optimizer.param_groups:
        parameters += group["params"]
    state: dict[int, dict[str, Tensor]] = {}
    for name, tensor in tensors.items():
        owner, index, key = name.split(".", 2)
        if owner == prefix:
            restored = _in_memory_order(tensor, parameters[int(index)])
            state.setdefault(int(index), {})[key] = restored
    groups = optimizer.state_dict()["param_groups"]
    optimizer.load_state_dict({"state": state, "param_groups": groups})


def _in_memory_order(tensor: Tensor, parameter: Tensor) -> Tensor:
    """Return the tensor in the parameter's memory order, if it has its shape.

    Kernels may add numbers in another order for another memory order, and a resumed run must
    compute the same bits as one that was never stopped.
    """
    if tensor.shape != parameter.shape:
        return tensor
    return torch.empty_like(parameter).copy_(tensor)


def save_checkpoint(
    folder: Path,
    model: FewShotModel,
    optimizers: Sequence[LossOptimizer],
    progress: TrainingProgress,
) -> None:
    """Write the state after an update, then delete what is no longer needed."""
    tensors = {f"model.{name}": tensor for name, tensor in model.state_dict().items()}
    for loss in optimizers:
        tensors |= optimizer_tensors(loss.optimizer, loss.name)
    content = serialize(tensors)
    name = f"{progress.update:08d}"
    write_whole(folder / f"{name}.safetensors", content)
    facts = {
        "format": FORMAT,
        "sha256": hashlib.sha256(content).hexdigest(),
        "progressed": asdict(progress),
    }
    # Last: from now on this is a checkpoint, and older ones may go.
    write_whole(folder / f"{name}.json", json.dumps(facts).encode())
    prune(folder, progress.update)


def prune(folder: Path, update: int) -> None:
    """Delete all but the last checkpoints up to this update, and what killed processes left."""
    newest = f"{update:08d}"
    paths = sorted(folder.glob("*.json"))
    earlier = [path for path in paths if path.stem <= newest]
    # This run has resumed before these, so they were found damaged.
    later = [path for path in paths if path.stem > newest]
    for path in (*earlier[:-KEPT], *later):
        path.unlink()
        path.with_suffix(".safetensors").unlink(missing_ok=True)
    # Tensors without their JSON file were left by a process that was killed here or while saving.
    for path in folder.glob("*.safetensors"):
        if not path.with_suffix(".json").exists():
            path.unlink()
    # The lock of the run makes sure that no other process is writing now.
    remove_leftovers(folder)


def load_checkpoint(
    folder: Path, model: FewShotModel, optimizers: Sequence[LossOptimizer]
) -> tuple[TrainingProgress | None, list[str]]:
    """Restore the newest undamaged checkpoint.

    Returns how far it had come, or None if there is none, and a message for each damaged one.
    """
    complaints: list[str] = []
    for path in sorted(folder.glob("*.json"), reverse=True):
        try:
            progress, tensors = _read(path)
        # Whatever a crash or a disk may have done to the file, an older one is better than none.
        except (OSError, ValueError, KeyError, TypeError, SamovarError) as error:
            complaints.append(f"the checkpoint {path.name} is damaged ({error}) and is not used")
            continue
        _restore(model, optimizers, tensors, path)
        return progress, complaints
    if complaints:
        complaints.append("all checkpoints are damaged: starting from the beginning")
    return None, complaints


def _restore(
    model: FewShotModel,
    optimizers: Sequence[LossOptimizer],
    tensors: dict[str, Tensor],
    path: Path,
) -> None:
    weights = {}
    for name, tensor in tensors.items():
        if name.startswith("model."):
            weights[name.removeprefix("model.")] = tensor
    check_tensors(model.state_dict(), weights, path)
    model.load_state_dict(weights)
    for loss in optimizers:
        restore_optimizer(loss.optimizer, loss.name, tensors)


def _read(path: Path) -> tuple[TrainingProgress, dict[str, Tensor]]:
    facts = json.loads(path.read_bytes())
    if facts["format"] != FORMAT:
        raise RunError(f"its format is {facts['format']}, but this version reads {FORMAT}")
    content = path.with_suffix(".safetensors").read_bytes()
    if hashlib.sha256(content).hexdigest() != facts["sha256"]:
        raise RunError("its checksum is wrong")
    return TrainingProgress(**facts["progressed"]), deserialize(content, path)
