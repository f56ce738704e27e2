"""A model is a folder: config.json, model.safetensors, README.md (a model card). Nothing in it is code or a pickle."""

import dataclasses
import hashlib
import json
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
from torch import nn

from samovar.artifacts.locate import CARD, CONFIG, WEIGHTS, locate_model
from samovar.artifacts.model_card import model_card
from samovar.artifacts.tensors import check_tensors, deserialize, serialize
from samovar.core.files import output_folder, write_whole
from samovar.data.images.conversion import Conversion
from samovar.data.normalization import Normalization
from samovar.errors import ModelError, SettingsError
from samovar.models.few_shot_model import FewShotModel
from samovar.prediction.rejection import Rejection
from samovar.settings.model import ModelSettings
from samovar.settings.stored import from_dict

FORMAT = 1


@dataclass(frozen=True)
class SavedModel:
    """A model with what is needed to use it on images: how they enter, and where it comes from."""

    model: FewShotModel
    normalisation: Normalization
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
        facts = json.dumps(
            [None if part is None else dataclasses.asdict(part) for part in parts], sort_keys=True
        )
        return hashlib.sha256(facts.encode() + serialize(self.model.state_dict())).hexdigest()

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
    write_whole(folder / WEIGHTS, serialize(saved.model.state_dict()))
    write_whole(folder / CONFIG, json.dumps(config, indent=1).encode())
    write_whole(folder / CARD, model_card(saved).encode())
    return folder


def load_model(folder: Path, backbone: nn.Module | None = None) -> SavedModel:
    """Read a folder; a backbone of the user's own must be passed again, it is never imported from a path in a file."""
    try:
        config = json.loads((folder / CONFIG).read_bytes())
        tensors = deserialize((folder / WEIGHTS).read_bytes(), folder / WEIGHTS)
        if config["format"] != FORMAT:
            raise ModelError(
                f"{folder} has format {config['format']}, this version reads {FORMAT}."
            )
        settings = from_dict(ModelSettings, config["model"])
        normalisation = from_dict(Normalization, config["normalisation"])
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
        raise ModelError(
            f"{folder} was trained with a torch module of its maker's own; pass it as `backbone`."
        )
    try:
        model = FewShotModel(settings, backbone if settings.backbone == "custom" else None)
    except RuntimeError as error:  # torch's way to say that there is not enough memory
        raise ModelError(
            f"{folder} describes a network that cannot be made here ({error})."
        ) from error
    check_tensors(model.state_dict(), tensors, folder / WEIGHTS)
    model.load_state_dict(tensors)
    return SavedModel(model.eval(), normalisation, training, conversion, rejection)


def _check_together(
    settings: ModelSettings, normalisation: Normalization, conversion: Conversion | None
) -> None:
    """Refuse a config whose parts do not fit each other."""
    shape = settings.input_shape
    if shape is not None and {len(normalisation.mean), len(normalisation.std)} != {shape[-1]}:
        raise ValueError("its normalisation does not fit its input")
    if (
        not np.isfinite([*normalisation.mean, *normalisation.std]).all()
        or min(normalisation.std, default=1) < 0
    ):
        raise ValueError("its normalisation is not made of finite numbers")
    if shape is not None and conversion is not None and conversion.shape != shape:
        raise ValueError("its conversion does not fit its input")
