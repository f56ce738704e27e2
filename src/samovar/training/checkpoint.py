"""Checkpoints of a run: the state after an update, from which the run can go on.

A checkpoint is a safetensors file and a JSON file with its checksum. The JSON has a checksum of
itself, the seal. It is written last, so a checkpoint without it was never finished. The last two
are kept: if one is damaged, which the checksums tell, the run goes on from the one before and ends
with the same bits.
"""

import hashlib
import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from samovar.artifacts.tensors import check_tensors, deserialize, serialize
from samovar.core.files import remove_leftovers, write_whole
from samovar.core.stored_json import read_bytes, read_json, seal
from samovar.errors import RunError, SamovarError, UnreadableError
from samovar.models.few_shot_model import FewShotModel
from samovar.settings.checked import checked
from samovar.training.optimization import LossOptimizer

FORMAT = 1
KEPT = 2
LARGEST_CHECKPOINT = 8_000_000_000
"""Bytes: eight times the largest network that is built, for its gradients' averages as well."""
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

    def check(self, name: str) -> None:
        """Refuse what cannot be the progress of the checkpoint with this name.

        Earlier versions have no checksum of it, but the name of the file tells the update.
        """
        if name != checkpoint_name(self.update):
            raise UnreadableError(f"it says that it was written after update {self.update}")
        counts_fit = 0 <= self.best_update <= self.update and 0 <= self.waited <= self.update
        if not counts_fit or not -1 <= self.best <= 1:
            raise UnreadableError("its progress is not that of a run")


def checkpoint_name(update: int) -> str:
    """Return the name of the checkpoint after an update, without suffix.

    >>> checkpoint_name(250)
    '00000250'
    """
    return f"{update:08d}"


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
    name = checkpoint_name(progress.update)
    write_whole(folder / f"{name}.safetensors", content)
    facts: dict[str, Any] = {
        "format": FORMAT,
        "sha256": hashlib.sha256(content).hexdigest(),
        "progressed": asdict(progress),
    }
    facts["seal"] = seal(facts)
    # Last: from now on this is a checkpoint, and older ones may go.
    write_whole(folder / f"{name}.json", json.dumps(facts).encode())
    prune(folder, progress.update)


def prune(folder: Path, update: int) -> None:
    """Delete all but the last checkpoints up to this update, and what killed processes left."""
    newest = checkpoint_name(update)
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
            facts, tensors = _read(path)
        # Whatever a crash or a disk may have done to the file, an older one is better than none.
        except (OSError, SamovarError) as error:
            complaints.append(f"the checkpoint {path.name} is damaged ({error}) and is not used")
            continue
        if facts.seal is None:
            complaints.append(
                f"the checkpoint {path.name} is of an earlier version: its tensors have a "
                "checksum, but its progress has none"
            )
        _restore(model, optimizers, tensors, path)
        return facts.progressed, complaints
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
    try:
        for loss in optimizers:
            restore_optimizer(loss.optimizer, loss.name, tensors)
    # Of a file that is whole, but not of a checkpoint of this run.
    except (ValueError, IndexError, KeyError, RuntimeError) as error:
        raise RunError(f"{path} does not belong to this run ({error}).") from error


@dataclass(frozen=True)
class _Facts:
    """The JSON file of a checkpoint."""

    format: int
    sha256: str
    progressed: TrainingProgress
    seal: str | None = None
    """The checksum of all the rest; None in checkpoints of earlier versions."""


def _read(path: Path) -> tuple[_Facts, dict[str, Tensor]]:
    raw = read_json(path, dict[str, Any])
    if raw.get("format") != FORMAT:
        raise UnreadableError(
            f"its format is {raw.get('format')!r}, but this version reads {FORMAT}"
        )
    facts = checked(_Facts, raw)
    # Without a seal all names must be known: a damaged name would pass for a missing entry.
    whole = asdict(facts)
    unknown = raw.keys() - whole.keys() or raw["progressed"].keys() - whole["progressed"].keys()
    if unknown or facts.seal not in (None, seal(raw)):
        raise UnreadableError(f"{path.name} was changed after it was written")
    facts.progressed.check(path.stem)
    content = read_bytes(path.with_suffix(".safetensors"), LARGEST_CHECKPOINT)
    if hashlib.sha256(content).hexdigest() != facts.sha256:
        raise UnreadableError("its checksum is wrong")
    return facts, deserialize(content, path)
