"""A model is a folder: config.json, model.safetensors, README.md (a model card). Nothing in it is code or a pickle."""

import dataclasses
import json
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from safetensors import SafetensorError
from safetensors.torch import load, save
from torch import Tensor, nn

from samovar.config import ModelSettings
from samovar.data.augmentation import Normalisation
from samovar.errors import ModelError, SettingsError
from samovar.files import output_folder, write_whole
from samovar.models.model import FewShotModel
from samovar.run_config import from_dict

FORMAT = 1
CONFIG, WEIGHTS, CARD = "config.json", "model.safetensors", "README.md"


@dataclass(frozen=True)
class SavedModel:
    """A model with what is needed to use it on images: how they enter, and where it comes from."""

    model: FewShotModel
    normalisation: Normalisation
    training: dict[str, Any] = field(default_factory=dict)
    """The run that made it: settings, data, figures; for the card and for reports."""


def save_model(saved: SavedModel, folder: Path) -> Path:
    """Write the folder; each file is whole or not there."""
    output_folder(folder)
    config = {
        "format": FORMAT,
        "library": "samovar",
        "model": dataclasses.asdict(saved.model.settings),
        "normalisation": dataclasses.asdict(saved.normalisation),
        "training": saved.training,
    }
    write_whole(folder / WEIGHTS, serialise(saved.model.state_dict()))
    write_whole(folder / CONFIG, json.dumps(config, indent=1).encode())
    write_whole(folder / CARD, model_card(saved).encode())
    return folder


def model_folder(path: Path) -> Path:
    """The model of a run folder, or the folder itself."""
    return path / "model" if (path / "model" / CONFIG).exists() else path


def load_model(folder: Path, backbone: nn.Module | None = None) -> SavedModel:
    """Read a folder; a backbone of the user's own must be passed again, it is never imported from a path in a file."""
    try:
        config = json.loads((folder / CONFIG).read_bytes())
        tensors = deserialise((folder / WEIGHTS).read_bytes(), folder / WEIGHTS)
        if config["format"] != FORMAT:
            raise ModelError(f"{folder} has format {config['format']}, this version reads {FORMAT}.")
        settings = from_dict(ModelSettings, config["model"])
        normalisation = from_dict(Normalisation, config["normalisation"])
    except (OSError, ValueError, KeyError, TypeError) as error:
        if isinstance(error, ModelError):
            raise
        reason = error if isinstance(error, SettingsError) else f"{type(error).__name__}: {error}"
        raise ModelError(f"{folder} is not a model folder that can be read ({reason}).") from error
    if settings.backbone == "custom" and backbone is None:
        raise ModelError(f"{folder} was trained with a torch module of its maker's own; pass it as `backbone`.")
    model = FewShotModel(settings, backbone)
    check_tensors(model.state_dict(), tensors, folder / WEIGHTS)
    model.load_state_dict(tensors)
    return SavedModel(model.eval(), normalisation, config.get("training", {}))


def serialise(tensors: dict[str, Tensor]) -> bytes:
    """Safetensors bytes; memory order is not part of a tensor's value."""
    return save({name: tensor.detach().contiguous().cpu() for name, tensor in tensors.items()})


def deserialise(content: bytes, path: Path) -> dict[str, Tensor]:
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


def model_card(saved: SavedModel) -> str:
    """The README of a model folder, in the form that model hubs use."""
    settings, training = saved.model.settings, saved.training
    data, figures = training.get("data", "unknown data"), training.get("figures", {})
    parameters = sum(parameter.numel() for parameter in saved.model.parameters())
    lines = [
        "---",
        "library_name: samovar",
        "tags: [few-shot, image-classification, bayesian]",
        "---",
        f"# {settings.method} with {settings.backbone}, trained on {data}",
        "",
        f"{parameters:,} parameters; classifier: {settings.classifier}; batch norm: {settings.norm}.",
        "",
        "| figure | value |",
        "|---|---|",
        *(f"| {name} | {value} |" for name, value in figures.items()),
        "",
        f"Data licence: {training.get('licence', 'unknown')}. The full settings are in config.json.",
        "",
        "Limits: measured on tasks drawn from the named data. Other images may be answered worse, with probabilities",
        "that are less calibrated.",
        "",
    ]
    return "\n".join(lines)
