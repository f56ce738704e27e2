"""A model on disk: a folder with config.json, model.safetensors and README.md (a model card).

Nothing in the folder is code or a pickle. config.json says which network to build, how images enter
it, and where the model comes from; the weights are checked against that network by name and shape.
A user's own torch modules are never imported from a path in a file: they are passed again.
"""

import dataclasses
import hashlib
import json
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
from torch import Tensor, nn

from samovar.artifacts.locate import CARD, CONFIG, WEIGHTS, locate_model
from samovar.artifacts.model_card import model_card
from samovar.artifacts.saved_regression import KIND, SavedRegression, regression_of
from samovar.artifacts.tensors import check_tensors, deserialize, serialize
from samovar.artifacts.training_record import TrainingRecord
from samovar.core.files import output_folder, write_whole
from samovar.data.images.conversion import Conversion
from samovar.data.normalization import Normalization
from samovar.errors import ModelError, SettingsError
from samovar.models.few_shot_model import FewShotModel
from samovar.prediction.rejection import Rejection
from samovar.settings.model import ModelSettings
from samovar.settings.stored import from_dict, to_dict

FORMAT = 1
SUBCLASS_ADVICE = " If it was trained with a subclass of FewShotModel, pass that class as `model`."


@dataclass(frozen=True)
class SavedModel:
    """A model with all that is needed to use it on images."""

    model: FewShotModel
    normalisation: Normalization
    training: dict[str, Any] = field(default_factory=dict)
    """The run that made it, as config.json stores it; `record` is the typed form."""
    conversion: Conversion | None = None
    """How a user's images become like those it was trained on; None for feature vectors."""
    rejection: Rejection | None = None
    """When to answer "none of these"."""

    @property
    def record(self) -> TrainingRecord:
        """The run that made it: data, settings and what was measured."""
        return TrainingRecord.from_json(self.training)

    @cached_property
    def identity(self) -> str:
        """A hash of everything that its answers depend on.

        Task files store it, so what enters it, and in which order, never changes.
        """
        settings = to_dict(self.model.settings)
        normalisation = dataclasses.asdict(self.normalisation)
        facts = json.dumps(
            [settings, normalisation, _optional_dict(self.conversion)], sort_keys=True
        )
        return hashlib.sha256(facts.encode() + serialize(self.model.state_dict())).hexdigest()

    def save_pretrained(self, folder: str | Path) -> Path:
        """Write a model folder in the form of the Hugging Face Hub: config, safetensors, card."""
        return save_model(self, Path(folder))

    @classmethod
    def from_pretrained(
        cls,
        name: str | Path,
        backbone: nn.Module | None = None,
        model: type[FewShotModel] = FewShotModel,
    ) -> "SavedModel | SavedRegression":
        """Load a shipped model by name, a model or run folder, or OWNER/MODEL from the Hub.

        A model that is a regression on an encoder's vectors, like "photos", is a SavedRegression.

        The Hub needs huggingface_hub. A model that was trained with your own backbone needs that
        module again, with any weights; a model of your own subclass of FewShotModel needs that
        class.

        >>> SavedModel.from_pretrained("glyphs").record.data
        'glyphs'
        """
        return load_model(locate_model(name), backbone, model)


def save_model(saved: SavedModel, folder: Path) -> Path:
    """Write the model folder; each file is written whole or not at all."""
    output_folder(folder)
    config = {
        "format": FORMAT,
        "library": "samovar",
        "model": to_dict(saved.model.settings),
        "normalisation": dataclasses.asdict(saved.normalisation),
        "conversion": _optional_dict(saved.conversion),
        "rejection": None if saved.rejection is None else saved.rejection.to_dict(),
        "training": saved.training,
    }
    # Weights first, so that a folder with a config.json always has weights, even after a crash.
    write_whole(folder / WEIGHTS, serialize(saved.model.state_dict()))
    write_whole(folder / CONFIG, json.dumps(config, indent=1).encode())
    write_whole(folder / CARD, model_card(saved.model, saved.record).encode())
    return folder


def load_model(
    folder: Path,
    backbone: nn.Module | None = None,
    model: type[FewShotModel] = FewShotModel,
) -> SavedModel | SavedRegression:
    """Read a model folder of any kind.

    `backbone` and `model` are the user's own module and class, if any.
    """
    content = _read(folder)
    if isinstance(content, SavedRegression):
        return content
    return _network(folder, content, backbone, model)


def load_network(
    folder: Path,
    backbone: nn.Module | None = None,
    model: type[FewShotModel] = FewShotModel,
) -> SavedModel:
    """Read the folder of a model that has a network of its own, which can be trained further."""
    content = _read(folder)
    if isinstance(content, SavedRegression):
        raise ModelError(
            f"{folder} is a regression on the vectors of the encoder {content.encoder.name}. It "
            "answers images (samovar fit, samovar predict), but has no network that could be "
            "trained or evaluated here."
        )
    return _network(folder, content, backbone, model)


def _network(
    folder: Path,
    content: "_Content",
    backbone: nn.Module | None,
    model: type[FewShotModel],
) -> SavedModel:
    config, tensors = content
    network = _build(folder, config.model, backbone, model)
    advice = ""
    if model is FewShotModel:
        advice = SUBCLASS_ADVICE
    check_tensors(network.state_dict(), tensors, folder / WEIGHTS, advice)
    network.load_state_dict(tensors)
    return SavedModel(
        network.eval(), config.normalisation, config.training, config.conversion, config.rejection
    )


@dataclass(frozen=True)
class _Config:
    """The content of config.json."""

    model: ModelSettings
    normalisation: Normalization
    training: dict[str, Any]
    conversion: Conversion | None
    rejection: Rejection | None


_Content = tuple[_Config, dict[str, Tensor]]


def _read(folder: Path) -> _Content | SavedRegression:
    """Return config and weights, or say why the folder cannot be read: it may hold anything."""
    try:
        stored = json.loads((folder / CONFIG).read_bytes())
        tensors = deserialize((folder / WEIGHTS).read_bytes(), folder / WEIGHTS)
        if stored["format"] != FORMAT:
            raise ModelError(
                f"{folder} has format {stored['format']}, but this version reads {FORMAT}."
            )
        if stored.get("kind") == KIND:
            return regression_of(stored, tensors, folder / WEIGHTS)
        return _config(stored), tensors
    except ModelError:
        raise
    # Whatever a damaged or hostile config.json can raise; deep nesting is a RecursionError.
    except (OSError, ValueError, KeyError, TypeError, ArithmeticError, RecursionError) as error:
        reason = f"{type(error).__name__}: {error}"
        if isinstance(error, SettingsError):
            reason = str(error)
        raise ModelError(f"{folder} is not a model folder that can be read ({reason}).") from error


def _config(stored: dict[str, Any]) -> _Config:
    conversion = None
    if stored["conversion"] is not None:
        conversion = from_dict(Conversion, stored["conversion"])
    rejection = None
    if stored["rejection"] is not None:
        rejection = Rejection.from_dict(stored["rejection"])
    training = dict(stored.get("training", {}))
    TrainingRecord.from_json(training)  # refuses what the card could not be made from
    config = _Config(
        from_dict(ModelSettings, stored["model"]),
        from_dict(Normalization, stored["normalisation"]),
        training,
        conversion,
        rejection,
    )
    _check_together(config.model, config.normalisation, conversion)
    return config


def _check_together(
    settings: ModelSettings, normalisation: Normalization, conversion: Conversion | None
) -> None:
    """Refuse a config whose parts do not fit each other."""
    shape = settings.input_shape
    if shape is not None and {len(normalisation.mean), len(normalisation.std)} != {shape[-1]}:
        raise ValueError("its normalisation does not fit its input")
    if not np.isfinite([*normalisation.mean, *normalisation.std]).all():
        raise ValueError("its normalisation is not made of finite numbers")
    if min(normalisation.std, default=1) < 0:
        raise ValueError("its normalisation has a negative standard deviation")
    if shape is not None and conversion is not None and conversion.shape != shape:
        raise ValueError("its conversion does not fit its input")


def _build(
    folder: Path,
    settings: ModelSettings,
    backbone: nn.Module | None,
    model: type[FewShotModel],
) -> FewShotModel:
    """Return the network that the config describes, with weights that are yet to be loaded."""
    if settings.backbone != "custom":
        backbone = None  # the user's module is not needed, and would be refused
    elif backbone is None:
        raise ModelError(
            f"{folder} was trained with its author's own torch module; pass it as `backbone`."
        )
    try:
        return model(settings, backbone)
    except RuntimeError as error:  # torch raises this where there is not enough memory
        raise ModelError(
            f"{folder} describes a network that cannot be built here ({error})."
        ) from error


def _optional_dict(conversion: Conversion | None) -> dict[str, Any] | None:
    if conversion is None:
        return None
    return dataclasses.asdict(conversion)
