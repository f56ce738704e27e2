"""A model is a folder: config.json, model.safetensors, README.md (a model card). Nothing in it is code or a pickle."""

import contextlib
import dataclasses
import hashlib
import json
import re
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
from safetensors import SafetensorError
from safetensors.torch import load, save
from torch import Tensor, nn

from samovar.core.files import output_folder, write_whole
from samovar.data.augmentation import Normalisation
from samovar.data.images.decode import Conversion
from samovar.errors import ModelError, SettingsError
from samovar.evaluation.rejection import Rejection
from samovar.models.few_shot_model import FewShotModel
from samovar.settings.config import ModelSettings
from samovar.settings.run_config import from_dict

FORMAT = 1
CONFIG, WEIGHTS, CARD = "config.json", "model.safetensors", "README.md"


SHIPPED = Path(__file__).parent / "shipped"


@dataclass(frozen=True)
class SavedModel:
    """A model with what is needed to use it on images: how they enter, and where it comes from."""

    model: FewShotModel
    normalisation: Normalisation
    training: dict[str, Any] = field(default_factory=dict)
    """The run that made it: settings, data, figures; for the card and for reports."""
    conversion: Conversion | None = None
    """How a user's images become like those it was trained on; None for feature vectors."""
    rejection: Rejection | None = None
    """When to answer "none of these"."""

    @cached_property
    def identity(self) -> str:
        """A hash of all that its answers depend on."""
        parts = (self.model.settings, self.normalisation, self.conversion)
        facts = json.dumps([None if part is None else dataclasses.asdict(part) for part in parts], sort_keys=True)
        return hashlib.sha256(facts.encode() + serialise(self.model.state_dict())).hexdigest()

    def save_pretrained(self, folder: str | Path) -> Path:
        """Write a model folder, in the form that the Hugging Face Hub takes: config, safetensors, model card."""
        return save_model(self, Path(folder))

    @classmethod
    def from_pretrained(cls, name: str | Path, backbone: nn.Module | None = None) -> "SavedModel":
        """A shipped model by name, a model or run folder, or OWNER/MODEL from the Hub (with huggingface_hub).

        A model with a backbone of its maker's own wants that module again, with any weights.
        """
        return load_model(locate_model(name), backbone)


def save_model(saved: SavedModel, folder: Path) -> Path:
    """Write the folder; each file is whole or not there."""
    output_folder(folder)
    config = {
        "format": FORMAT,
        "library": "samovar",
        "model": dataclasses.asdict(saved.model.settings),
        "normalisation": dataclasses.asdict(saved.normalisation),
        "conversion": None if saved.conversion is None else dataclasses.asdict(saved.conversion),
        "rejection": None if saved.rejection is None else saved.rejection.to_dict(),
        "training": saved.training,
    }
    write_whole(folder / WEIGHTS, serialise(saved.model.state_dict()))
    write_whole(folder / CONFIG, json.dumps(config, indent=1).encode())
    write_whole(folder / CARD, model_card(saved).encode())
    return folder


def shipped_models() -> list[str]:
    """Names of the models that come with the package."""
    return sorted(path.parent.name for path in SHIPPED.glob(f"*/{CONFIG}"))


def locate_model(name: str | Path) -> Path:
    """The folder of a shipped model, the model of a run folder, a model folder, or one fetched from the Hub."""
    if str(name) in shipped_models():
        return SHIPPED / str(name)
    path = Path(name)
    with contextlib.suppress(OSError):  # a name that is too long for a path is not one
        if (path / "model" / CONFIG).exists():
            return path / "model"
        if path.exists():
            return path
    if isinstance(name, str) and re.fullmatch(r"[\w.-]+/[\w.-]+", name):
        return _from_hub(name)
    raise ModelError(
        f"There is no model {str(name)!r}: neither a folder nor a shipped one ({', '.join(shipped_models())})."
    )


def evaluation_folder(model: Path) -> Path:
    """Where the evaluation of a located model goes: into its run or its folder; here for what is shipped."""
    if model.parent == SHIPPED:
        return Path("evaluation") / model.name
    return (model.parent if model.name == "model" else model) / "evaluation"


def _from_hub(name: str) -> Path:
    try:
        from huggingface_hub import snapshot_download
    except ImportError as error:
        raise ModelError(
            f"There is no folder {name!r}. To fetch it from the Hub: pip install huggingface_hub."
        ) from error
    try:
        return Path(snapshot_download(name, allow_patterns=[CONFIG, WEIGHTS, CARD]))
    except Exception as error:  # the library's errors are many, and all mean the same to the user
        raise ModelError(f"{name} is no folder here, and could not be fetched from the Hub ({error}).") from error


def load_model(folder: Path, backbone: nn.Module | None = None) -> SavedModel:
    """Read a folder; a backbone of the user's own must be passed again, it is never imported from a path in a file."""
    try:
        config = json.loads((folder / CONFIG).read_bytes())
        tensors = deserialise((folder / WEIGHTS).read_bytes(), folder / WEIGHTS)
        if config["format"] != FORMAT:
            raise ModelError(f"{folder} has format {config['format']}, this version reads {FORMAT}.")
        settings = from_dict(ModelSettings, config["model"])
        normalisation = from_dict(Normalisation, config["normalisation"])
        conversion, rejection = config["conversion"], config["rejection"]
        conversion = None if conversion is None else from_dict(Conversion, conversion)
        rejection = None if rejection is None else Rejection.from_dict(rejection)
        _check_together(settings, normalisation, conversion)
        training = dict(config.get("training", {}))
    except (OSError, ValueError, KeyError, TypeError, ArithmeticError, RecursionError) as error:
        if isinstance(error, ModelError):
            raise
        reason = error if isinstance(error, SettingsError) else f"{type(error).__name__}: {error}"
        raise ModelError(f"{folder} is not a model folder that can be read ({reason}).") from error
    if settings.backbone == "custom" and backbone is None:
        raise ModelError(f"{folder} was trained with a torch module of its maker's own; pass it as `backbone`.")
    try:
        model = FewShotModel(settings, backbone if settings.backbone == "custom" else None)
    except RuntimeError as error:  # torch's way to say that there is not enough memory
        raise ModelError(f"{folder} describes a network that cannot be made here ({error}).") from error
    check_tensors(model.state_dict(), tensors, folder / WEIGHTS)
    model.load_state_dict(tensors)
    return SavedModel(model.eval(), normalisation, training, conversion, rejection)


def _check_together(settings: ModelSettings, normalisation: Normalisation, conversion: Conversion | None) -> None:
    """Refuse a config whose parts do not fit each other."""
    shape = settings.input_shape
    if shape is not None and {len(normalisation.mean), len(normalisation.std)} != {shape[-1]}:
        raise ValueError("its normalisation does not fit its input")
    if not np.isfinite([*normalisation.mean, *normalisation.std]).all() or min(normalisation.std, default=1) < 0:
        raise ValueError("its normalisation is not made of finite numbers")
    if shape is not None and conversion is not None and conversion.shape != shape:
        raise ValueError("its conversion does not fit its input")


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
        *_recipe(training.get("settings")),
        f"Data licence: {training.get('licence', 'unknown')}. The full settings are in config.json.",
        "",
        "Limits: measured on tasks drawn from the named data. Other images may be answered worse, with probabilities",
        "that are less calibrated.",
        "",
    ]
    return "\n".join(lines)


def _recipe(stored: dict[str, Any] | None) -> list[str]:
    """How it was trained, in a sentence, where the stored settings tell all of it; nothing is guessed."""
    if stored is None or not {"tasks", "episodes", "optimizer", "updates", "data", "seed"} <= stored.keys():
        return []
    tasks, episodes, optimizer = stored["tasks"], stored["episodes"], stored["optimizer"]
    shape = f"{episodes['way']}-way {episodes['shot']}-shot"
    scheme = f", split {stored['data']['scheme']}" if stored["data"]["scheme"] else ""
    steps = f"{optimizer['kind']} at {optimizer['learning_rate']:g}, {optimizer['schedule']}"
    updates = f"{stored['updates']:,} updates of {tasks} tasks each"
    return [f"Trained by {updates} ({shape}; {steps}{scheme}), seed {stored['seed']}.", ""]
