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
from typing import Any

import torch
from torch import Tensor

from samovar.artifacts.locate import CARD, CONFIG, WEIGHTS
from samovar.artifacts.model_card import regression_card
from samovar.artifacts.tensors import check_tensors, serialize
from samovar.artifacts.training_record import TrainingRecord
from samovar.artifacts.uses_encoder import UsesEncoder
from samovar.core.files import output_folder, write_whole
from samovar.encoders.encoder_facts import EncoderFacts
from samovar.encoders.registry import find_encoder
from samovar.models.closed_form import ClosedForm
from samovar.prediction.regression_rejection import RegressionRejection

FORMAT = 1
KIND = "closed_form"
LARGEST_PARAMETER = 100.0
"""All learned numbers are logarithms and slopes of them; exp(100) is beyond any use."""
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
        config = {
            "format": FORMAT,
            "library": "samovar",
            "kind": KIND,
            "encoder": self.encoder.to_json(),
            "closed_form": {"power": self.model.power, "spread": self.model.spread},
            "rejection": None if self.rejection is None else self.rejection.to_dict(),
            "training": self.training,
        }
        card = regression_card(self.model, self.encoder.name, self.record)
        # Weights first, so that a folder with a config.json always has weights.
        write_whole(folder / WEIGHTS, serialize(self.model.state_dict()))
        write_whole(folder / CONFIG, json.dumps(config, indent=1).encode())
        write_whole(folder / CARD, card.encode())
        return folder


def regression_of(
    stored: dict[str, Any], tensors: dict[str, Tensor], weights: Path
) -> SavedRegression:
    """Return the model of a config and its tensors; `weights` is named where they do not fit."""
    settings = stored["closed_form"]
    model = ClosedForm(_positive(settings, "power"), _positive(settings, "spread"))
    tensors = _with_dispersion_and_bend(tensors)
    check_tensors(model.state_dict(), tensors, weights)
    for name, tensor in tensors.items():
        if not tensor.is_floating_point() or not bool((tensor.abs() <= LARGEST_PARAMETER).all()):
            raise ValueError(f"its {name} is not made of plausible numbers")
    model.load_state_dict(tensors)
    model.requires_grad_(False)
    rejection = None
    if stored["rejection"] is not None:
        rejection = RegressionRejection.from_dict(stored["rejection"])
    training = dict(stored.get("training", {}))
    TrainingRecord.from_json(training)  # refuses what the card could not be made from
    encoder = EncoderFacts.from_json(stored["encoder"])
    return SavedRegression(model.eval(), encoder, training, rejection)


def _with_dispersion_and_bend(tensors: dict[str, Tensor]) -> dict[str, Tensor]:
    """Return the tensors of a model from before the scale knew the dispersion and scores a bend."""
    scale = tensors.get("scale")
    if "bend" in tensors or scale is None or scale.shape != (3,):
        return tensors
    straight = scale.new_tensor([STRAIGHT, 0.0])
    return {**tensors, "scale": torch.cat([scale, scale.new_zeros(1)]), "bend": straight}


def _positive(settings: dict[str, Any], name: str) -> float:
    value = settings[name]
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 < value < math.inf:
        raise ValueError(f"its {name} is {value!r}")
    return float(value)


def regression_on(
    encoder: str, model: ClosedForm, training: dict[str, Any] | None = None
) -> SavedRegression:
    """Return a model of an encoder that is known by name, ready to be saved or used."""
    frozen = ClosedForm(model.power, model.spread)
    frozen.load_state_dict(model.state_dict())
    frozen.requires_grad_(False)
    facts = EncoderFacts.of(find_encoder(encoder))
    return SavedRegression(frozen.eval(), facts, training or {})
