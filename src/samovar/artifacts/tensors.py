"""Tensors as safetensors bytes, and whether they are the tensors that a model needs."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Protocol

from safetensors import SafetensorError
from safetensors.torch import load, save
from torch import Tensor

from samovar.errors import ModelError

MOST_NAMED = 5
"""Differences that an error message lists; the others are counted."""


def serialize(tensors: dict[str, Tensor]) -> bytes:
    """Return safetensors bytes; the memory order is not part of a tensor's value."""
    # channels_last weights are not contiguous, and safetensors refuses those.
    return save({name: tensor.detach().contiguous().cpu() for name, tensor in tensors.items()})


def deserialize(content: bytes, path: Path) -> dict[str, Tensor]:
    """Return the tensors in safetensors bytes; `path` is named where they are damaged."""
    try:
        return load(content)
    except (SafetensorError, ValueError) as error:
        raise ModelError(f"{path} is damaged or not a safetensors file ({error}).") from error


class Shaped(Protocol):
    """A tensor, or what a file says of one."""

    @property
    def shape(self) -> Sequence[int]:
        """The length of each axis."""
        ...


def check_tensors(
    expected: Mapping[str, Tensor], present: Mapping[str, Shaped], path: Path, advice: str = ""
) -> None:
    """Refuse missing, unknown or wrongly shaped tensors, by name."""
    wrong = [f"missing {name}" for name in sorted(expected.keys() - present.keys())]
    wrong += [f"unknown {name}" for name in sorted(present.keys() - expected.keys())]
    for name, tensor in expected.items():
        shape = tuple(tensor.shape)
        if name in present:
            shape = tuple(present[name].shape)
        if shape != tuple(tensor.shape):
            wrong.append(f"{name} is {shape} instead of {tuple(tensor.shape)}")
    if not wrong:
        return
    named = "; ".join(wrong[:MOST_NAMED])
    if len(wrong) > MOST_NAMED:
        named += f" and {len(wrong) - MOST_NAMED} more"
    raise ModelError(f"{path} does not fit its config: {named}.{advice}")
