"""Tensors as safetensors bytes, and what is wrong with them."""

from pathlib import Path

from safetensors import SafetensorError
from safetensors.torch import load, save
from torch import Tensor

from samovar.errors import ModelError


def serialize(tensors: dict[str, Tensor]) -> bytes:
    """Safetensors bytes; memory order is not part of a tensor's value."""
    return save({name: tensor.detach().contiguous().cpu() for name, tensor in tensors.items()})


def deserialize(content: bytes, path: Path) -> dict[str, Tensor]:
    """Tensors from safetensors bytes."""
    try:
        return load(content)
    except (SafetensorError, ValueError) as error:
        raise ModelError(f"{path} is damaged or not a safetensors file ({error}).") from error


def check_tensors(expected: dict[str, Tensor], found: dict[str, Tensor], path: Path) -> None:
    """Refuse missing, extra or wrongly shaped tensors, by name."""
    wrong = [f"missing {name}" for name in sorted(set(expected) - set(found))]
    wrong += [f"unknown {name}" for name in sorted(set(found) - set(expected))]
    wrong += [
        f"{name} is {tuple(found[name].shape)} instead of {tuple(tensor.shape)}"
        for name, tensor in expected.items()
        if name in found and found[name].shape != tensor.shape
    ]
    if wrong:
        more = f" and {len(wrong) - 5} more" if len(wrong) > 5 else ""
        raise ModelError(f"{path} does not fit its config: {'; '.join(wrong[:5])}{more}.")
