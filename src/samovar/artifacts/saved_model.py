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

from torch import nn

from samovar.artifacts.locate import CARD, CONFIG, WEIGHTS, locate_model
from samovar.artifacts.model_card import model_card
from samovar.artifacts.saved_regression import KIND, SavedRegression, read_regression
from samovar.artifacts.tensors import check_tensors, serialize
from samovar.artifacts.training_record import TrainingRecord
from samovar.artifacts.uses_encoder import UsesEncoder
from samovar.artifacts.weights import check_network, load_weights, read_header
from samovar.core.files import output_folder, write_whole
from samovar.core.stored_json import read_json
from samovar.data.images.conversion import Conversion
from samovar.data.normalization import Normalization
from samovar.encoders.encoder_facts import EncoderFacts
from samovar.errors import ModelError, SettingsError, UnreadableError
from samovar.models.few_shot_model import FewShotModel
from samovar.prediction.calibration import Calibration
from samovar.prediction.rejection import Rejection
from samovar.prediction.transferred_quantiles import TransferredQuantiles, stored_quantiles
from samovar.settings.checked import checked
from samovar.settings.model import ModelSettings
from samovar.settings.stored import from_dict, to_dict

FORMAT = 1
LARGEST_CONFIG = 8_000_000
"""Bytes: the normalisation of vectors of 100,000 numbers, with room to spare."""
LARGEST_SIDE = 2048
"""Pixels of an image that enters a network."""
LARGEST_SHIFT = 1e12
"""Of images and vectors; beyond it their differences are lost in float32."""
SUBCLASS_ADVICE = " If it was trained with a subclass of FewShotModel, pass that class as `model`."


@dataclass(frozen=True)
class SavedModel(UsesEncoder):
    """A model with all that is needed to use it on images."""

    model: FewShotModel
    normalisation: Normalization
    training: dict[str, Any] = field(default_factory=dict)
    """The run that made it, as config.json stores it; `record` is the typed form."""
    conversion: Conversion | None = None
    """How a user's images become like those it was trained on; None for feature vectors."""
    rejection: Rejection | None = None
    """When to answer "none of these"."""
    encoder: EncoderFacts | None = None
    """The encoder that made the vectors it was trained on, if it is known: images are encoded by
    it first."""
    calibration: Calibration | None = None
    """How its probabilities are mended at every shot and way; models of before have none."""
    set_quantiles: TransferredQuantiles | None = None
    """For prediction sets of tasks with one image of each class."""

    @property
    def record(self) -> TrainingRecord:
        """The run that made it: data, settings and what was measured."""
        return TrainingRecord.from_json(self.training)

    @cached_property
    def identity(self) -> str:
        """A hash of everything that its features and classifiers depend on.

        Task files store it, so what enters it, and in which order, never changes. Thresholds and
        calibration do not: they may be measured again, and tasks that are fitted stay good.
        """
        settings = to_dict(self.model.settings)
        normalisation = dataclasses.asdict(self.normalisation)
        entries: list[Any] = [settings, normalisation, _optional_dict(self.conversion)]
        if self.encoder is not None:
            entries.append(self.encoder.identity)
        facts = json.dumps(entries, sort_keys=True)
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
    config: dict[str, Any] = {
        "format": FORMAT,
        "library": "samovar",
        "model": to_dict(saved.model.settings),
        "normalisation": dataclasses.asdict(saved.normalisation),
        "conversion": _optional_dict(saved.conversion),
        "rejection": None if saved.rejection is None else saved.rejection.to_dict(),
        "training": saved.training,
    }
    if saved.encoder is not None:
        config["encoder"] = saved.encoder.to_json()
    if saved.calibration is not None:
        config["calibration"] = saved.calibration.to_dict()
    if saved.set_quantiles is not None:
        config["set_quantiles"] = saved.set_quantiles.to_dict()
    weights = serialize(saved.model.state_dict())
    config["weights_sha256"] = hashlib.sha256(weights).hexdigest()
    # Weights first, so that a folder with a config.json always has weights, even after a crash.
    write_whole(folder / WEIGHTS, weights)
    write_whole(folder / CONFIG, json.dumps(config, indent=1).encode())
    write_whole(folder / CARD, _card(saved).encode())
    return folder


def _card(saved: SavedModel) -> str:
    encoder = None
    if saved.encoder is not None:
        encoder = saved.encoder.name
    return model_card(saved.model, saved.record, encoder)


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
            "trained further."
        )
    return _network(folder, content, backbone, model)


def _network(
    folder: Path,
    config: "_Config",
    backbone: nn.Module | None,
    model: type[FewShotModel],
) -> SavedModel:
    path = folder / WEIGHTS
    advice = ""
    if model is FewShotModel:
        advice = SUBCLASS_ADVICE
        check_network(config.model, read_header(path), path, advice)
    network = _build(folder, config.model, backbone, model)
    check_tensors(network.state_dict(), read_header(path), path, advice)
    network.load_state_dict(load_weights(path, config.weights_sha256))
    return SavedModel(
        network.eval(),
        config.normalisation,
        config.training,
        config.conversion,
        config.rejection,
        config.encoder,
        config.calibration,
        config.set_quantiles,
    )


@dataclass(frozen=True)
class _Config:
    """The content of config.json."""

    model: ModelSettings
    normalisation: Normalization
    training: dict[str, Any]
    conversion: Conversion | None
    rejection: Rejection | None
    encoder: EncoderFacts | None
    calibration: Calibration | None
    weights_sha256: str | None
    set_quantiles: TransferredQuantiles | None


@dataclass(frozen=True)
class _Stored:
    """The tables of config.json, each of which is read by what it describes."""

    model: dict[str, Any]
    normalisation: dict[str, Any]
    conversion: dict[str, Any] | None
    rejection: dict[str, Any] | None
    training: dict[str, Any] = field(default_factory=dict)
    encoder: dict[str, Any] | None = None
    calibration: dict[str, Any] | None = None
    weights_sha256: str | None = None
    """The hash of model.safetensors; models of earlier versions do not have it."""
    set_quantiles: dict[str, Any] | None = None


def _read(folder: Path) -> _Config | SavedRegression:
    """Return the config, or say why the folder cannot be read: it may hold anything."""
    try:
        stored = read_json(folder / CONFIG, dict[str, Any], LARGEST_CONFIG)
        if stored.get("format") != FORMAT:
            raise ModelError(
                f"{folder} has format {stored.get('format')!r}, but this version reads {FORMAT}."
            )
        if stored.get("kind") == KIND:
            return read_regression(stored, folder / WEIGHTS)
        return _config(checked(_Stored, stored))
    except (OSError, UnreadableError, SettingsError) as error:
        raise ModelError(f"{folder} is not a model folder that can be read ({error}).") from error


def _config(stored: _Stored) -> _Config:
    conversion = None
    if stored.conversion is not None:
        conversion = from_dict(Conversion, stored.conversion)
    rejection = None
    if stored.rejection is not None:
        rejection = Rejection.from_dict(stored.rejection)
    encoder = None
    if stored.encoder is not None:
        encoder = EncoderFacts.from_json(stored.encoder)
    calibration = None
    if stored.calibration is not None:
        calibration = Calibration.from_dict(stored.calibration)
    TrainingRecord.from_json(stored.training)  # refuses what the card could not be made from
    config = _Config(
        from_dict(ModelSettings, stored.model),
        from_dict(Normalization, stored.normalisation),
        stored.training,
        conversion,
        rejection,
        encoder,
        calibration,
        stored.weights_sha256,
        stored_quantiles(stored.set_quantiles),
    )
    _check_together(config.model, config.normalisation, conversion)
    if encoder is not None and config.model.input_shape not in (None, (encoder.length,)):
        raise UnreadableError("its encoder does not fit its input")
    return config


def _check_together(
    settings: ModelSettings, normalisation: Normalization, conversion: Conversion | None
) -> None:
    """Refuse a config whose parts do not fit each other."""
    shape = settings.input_shape
    check_normalisation(normalisation, shape)
    if conversion is None:
        return
    if not 1 <= conversion.size <= LARGEST_SIDE:
        raise UnreadableError(f"its images have {conversion.size} x {conversion.size} pixels")
    if shape is not None and conversion.shape != shape:
        raise UnreadableError("its conversion does not fit its input")


def check_normalisation(normalisation: Normalization, shape: tuple[int, ...] | None) -> None:
    """Refuse what does not fit the input, or would make numbers that are not finite of it."""
    channels = len(normalisation.mean)
    if len(normalisation.std) != channels or channels < 1:
        raise UnreadableError("its normalisation does not fit its input")
    if shape is not None and channels != shape[-1]:
        raise UnreadableError("its normalisation does not fit its input")
    # Vectors may have numbers that are always the same; early versions stored a zero for them.
    positive = min(normalisation.std)
    if shape is not None and len(shape) == 1:
        positive = max(normalisation.std)
    if min(normalisation.std) < 0 or positive <= 0 or normalisation.scale <= 0:
        raise UnreadableError("its normalisation has a standard deviation or scale of zero or less")
    means = [abs(mean * normalisation.scale) for mean in normalisation.mean]
    if max(*means, *normalisation.std, 1 / normalisation.scale) > LARGEST_SHIFT:
        raise UnreadableError("its normalisation has implausible numbers")


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
        # Initial weights would be overwritten; drawing them takes most of the time of loading. A
        # user's subclass may have other parameters.
        if model is FewShotModel:
            return FewShotModel(settings, backbone, initialized=False)
        return model(settings, backbone)
    except RuntimeError as error:  # torch raises this where there is not enough memory
        raise ModelError(
            f"{folder} describes a network that cannot be built here ({error})."
        ) from error


def _optional_dict(conversion: Conversion | None) -> dict[str, Any] | None:
    if conversion is None:
        return None
    return dataclasses.asdict(conversion)
