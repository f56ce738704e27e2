"""The weights of a model folder: looked at before anything is allocated, and checked by their hash.

A config.json of a few bytes can describe a network of any size. So the network is first built
without memory (on torch's device "meta") and compared with the header of the weights, which says
the name and the shape of every tensor. Only a network whose weights are there is then built.
"""

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
from safetensors import SafetensorError
from safetensors.torch import load_file
from torch import Tensor

from samovar.artifacts.tensors import check_tensors
from samovar.core.input_files import open_input
from samovar.core.stored_json import parse_json
from samovar.errors import DataError, ModelError, UnreadableError
from samovar.models.backbones.registry import OUR_BACKBONES
from samovar.models.few_shot_model import FewShotModel
from samovar.settings.checked import checked
from samovar.settings.model import ModelSettings

LARGEST_HEADER = 10_000_000
"""Bytes: names and shapes of 100,000 tensors."""
LARGEST_NETWORK = 1_000_000_000
"""Bytes of the weights of a network that we build. Those of the paper have less than 60 MB."""


@dataclass(frozen=True)
class TensorEntry:
    """What the header of a safetensors file says of a tensor."""

    dtype: str
    shape: tuple[int, ...]


def read_header(path: Path) -> dict[str, TensorEntry]:
    """Return what a safetensors file says of its tensors, without reading them."""
    try:
        with open_input(path) as file:
            size = int.from_bytes(file.read(8), "little")
            if size > LARGEST_HEADER:
                raise UnreadableError(f"its header claims {size:,} bytes")
            header = parse_json(file.read(size), dict[str, Any])
        header.pop("__metadata__", None)
        return checked(dict[str, TensorEntry], header)
    except (OSError, DataError, UnreadableError) as error:
        raise _damaged(path, error) from error


def load_weights(path: Path, sha256: str | None) -> dict[str, Tensor]:
    """Return the tensors of a safetensors file, whose hash must be this one, if there is one."""
    try:
        if sha256 is not None:
            with open_input(path) as file:
                found = hashlib.file_digest(file, "sha256").hexdigest()
            if found != sha256:
                raise ModelError(
                    f"{path} is not the file that config.json was written for: its checksum is "
                    "wrong. One of the two was damaged or replaced; get or save the model again."
                )
        tensors = load_file(path)
    except ModelError:
        raise
    # safetensors does not name the errors of its binding to torch.
    except (OSError, SafetensorError, ValueError, KeyError, AttributeError) as error:
        raise _damaged(path, error) from error
    for name, tensor in tensors.items():
        if tensor.is_floating_point() and not bool(torch.isfinite(tensor).all()):
            raise ModelError(f"{path} is damaged: its {name} has values that are not finite.")
    return tensors


def _damaged(path: Path, error: Exception) -> ModelError:
    return ModelError(f"{path} is damaged or not a safetensors file ({error}).")


def check_network(
    settings: ModelSettings, header: Mapping[str, TensorEntry], path: Path, advice: str = ""
) -> None:
    """Refuse settings whose network is not the one of these weights, before it is built.

    A user's own code may do anything when it is built, so it is not looked at here.
    """
    if settings.backbone not in OUR_BACKBONES:
        return
    expected = _described_tensors(settings, str(path.parent))
    check_tensors(expected, header, path, advice)
    _check_size(expected, str(path.parent))


def check_buildable(settings: ModelSettings) -> None:
    """Refuse settings of a network that is too large to be loaded again, before it is built."""
    _check_size(_described_tensors(settings, "--model"), "--model")


def _described_tensors(settings: ModelSettings, source: str) -> dict[str, Tensor]:
    """Return the tensors of a network without their memory; errors call the settings `source`."""
    try:
        with torch.device("meta"):
            return FewShotModel(settings, initialized=False).state_dict()
    # torch's complaints about sizes beyond all memory
    except (RuntimeError, OverflowError, TypeError) as error:
        raise ModelError(f"{source} describes a network that cannot be built.") from error


def _check_size(tensors: Mapping[str, Tensor], source: str) -> None:
    size = sum(tensor.nbytes for tensor in tensors.values())
    if size > LARGEST_NETWORK:
        raise ModelError(
            f"{source} describes a network of {size:,} bytes, but at most {LARGEST_NETWORK:,} are "
            "possible."
        )
