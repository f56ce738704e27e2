"""A regression on an encoder's vectors, on disk: the same three files as every other model.

config.json has the kind "closed_form". It names the encoder by which images become vectors, with
the hash of all that those vectors depend on: the encoder itself is not in the folder, since it
comes with a package (or is an ONNX file of the user). It is opened when images are first encoded,
and refused if it is another one. model.safetensors has the few learned numbers.
"""

import hashlib
import json
import math
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Annotated, Any

import msgspec
import torch
from torch import Tensor

from samovar.artifacts.locate import CARD, CONFIG, WEIGHTS
from samovar.artifacts.model_card import regression_card
from samovar.artifacts.tensors import check_tensors, serialize
from samovar.artifacts.training_record import TrainingRecord
from samovar.artifacts.uses_encoder import UsesEncoder
from samovar.artifacts.weights import load_weights, read_header
from samovar.core.files import output_folder, write_whole
from samovar.encoders.encoder_facts import EncoderFacts
from samovar.encoders.registry import find_encoder
from samovar.errors import UnreadableError
from samovar.models.closed_form import ClosedForm
from samovar.prediction.regression_rejection import RegressionRejection
from samovar.prediction.transferred_quantiles import TransferredQuantiles, stored_quantiles
from samovar.settings.checked import checked

FORMAT = 1
KIND = "closed_form"
LARGEST_PARAMETER = 100.0
"""All learned numbers are logarithms and slopes of them; exp(100) is beyond any use."""
MOST_PARAMETERS = 1000
"""Of a tensor: each has a handful."""
Positive = Annotated[float, msgspec.Meta(gt=0)]
STRAIGHT = -20.0
"""The log bend at which the link of scores is a straight line, to eight digits."""


@dataclass(frozen=True)
class SavedRegression(UsesEncoder):
    """A regression with all that is needed to use it on images."""

    model: ClosedForm
    encoder: EncoderFacts
    training: dict[str, Any] = field(default_factory=dict)
    """How it was made, as config.json stores it; `record` is the typed form."""
    rejection: RegressionRejection | None = None
    """When to answer "none of these"."""
    set_quantiles: TransferredQuantiles | None = None
    """For prediction sets of tasks with one image of each class."""

    @property
    def record(self) -> TrainingRecord:
        """How it was made: data and what was measured."""
        return TrainingRecord.from_json(self.training)

    @cached_property
    def identity(self) -> str:
        """A hash of everything that its answers depend on."""
        facts = json.dumps([self.model.power, self.model.spread, self.encoder.identity])
        return hashlib.sha256(facts.encode() + serialize(self.model.state_dict())).hexdigest()

    def save_pretrained(self, folder: str | Path) -> Path:
        """Write a model folder; each file is written whole or not at all."""
        folder = Path(folder)
        output_folder(folder)
        config: dict[str, Any] = {
            "format": FORMAT,
            "library": "samovar",
            "kind": KIND,
            "encoder": self.encoder.to_json(),
            "closed_form": {"power": self.model.power, "spread": self.model.spread},
            "rejection": None if self.rejection is None else self.rejection.to_dict(),
            "training": self.training,
        }
        if self.set_quantiles is not None:
            config["set_quantiles"] = self.set_quantiles.to_dict()
        card = regression_card(self.model, self.encoder.name, self.record)
        weights = serialize(self.model.state_dict())
        config["weights_sha256"] = hashlib.sha256(weights).hexdigest()
        # Weights first, so that a folder with a config.json always has weights.
        write_whole(folder / WEIGHTS, weights)
        write_whole(folder / CONFIG, json.dumps(config, indent=1).encode())
        write_whole(folder / CARD, card.encode())
        return folder


@dataclass(frozen=True)
class _Powers:
    """The fixed numbers of a regression."""

    power: Positive
    spread: Positive


@dataclass(frozen=True)
class _Stored:
    """The content of config.json."""

    closed_form: _Powers
    encoder: dict[str, Any]
    rejection: dict[str, Any] | None
    training: dict[str, Any] = field(default_factory=dict)
    weights_sha256: str | None = None
    set_quantiles: dict[str, Any] | None = None


def read_regression(content: dict[str, Any], weights: Path) -> SavedRegression:
    """Return the model of the content of config.json and the file of its weights."""
    stored = checked(_Stored, content)
    model = ClosedForm(stored.closed_form.power, stored.closed_form.spread)
    # The header first, since the file may have tensors of any size.
    for name, entry in read_header(weights).items():
        if math.prod(entry.shape) > MOST_PARAMETERS:
            raise UnreadableError(f"its {name} has too many numbers")
    tensors = _with_dispersion_and_bend(load_weights(weights, stored.weights_sha256))
    check_tensors(model.state_dict(), tensors, weights)
    for name, tensor in tensors.items():
        if not tensor.is_floating_point() or not bool((tensor.abs() <= LARGEST_PARAMETER).all()):
            raise UnreadableError(f"its {name} is not made of plausible numbers")
    model.load_state_dict(tensors)
    model.requires_grad_(False)
    rejection = None
    if stored.rejection is not None:
        rejection = RegressionRejection.from_dict(stored.rejection)
    TrainingRecord.from_json(stored.training)  # refuses what the card could not be made from
    encoder = EncoderFacts.from_json(stored.encoder)
    quantiles = stored_quantiles(stored.set_quantiles)
    return SavedRegression(model.eval(), encoder, stored.training, rejection, quantiles)


def _with_dispersion_and_bend(tensors: dict[str, Tensor]) -> dict[str, Tensor]:
    """Return the tensors of a model from before the scale knew the dispersion and scores a bend."""
    scale = tensors.get("scale")
    if "bend" in tensors or scale is None or scale.shape != (3,):
        return tensors
    straight = scale.new_tensor([STRAIGHT, 0.0])
    return {**tensors, "scale": torch.cat([scale, scale.new_zeros(1)]), "bend": straight}


def regression_on(
    encoder: str, model: ClosedForm, training: dict[str, Any] | None = None
) -> SavedRegression:
    """Return a model of an encoder that is known by name, ready to be saved or used."""
    frozen = ClosedForm(model.power, model.spread)
    frozen.load_state_dict(model.state_dict())
    frozen.requires_grad_(False)
    facts = EncoderFacts.of(find_encoder(encoder))
    return SavedRegression(frozen.eval(), facts, training or {})
