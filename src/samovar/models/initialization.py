"""Initial values of the parameters, as in VERSA's and TADAM's code.

The noise of each tensor belongs to its name, so it does not depend on the order in which a model is
built. A part of a model (a backbone, an inference network) says how it is initialised by a class
attribute `initialization`, one of the functions below or one like them. A layer with weights that
is in no such part is an error, because nobody would have chosen its initial values.
"""

import math
from collections.abc import Callable

import torch
from torch import nn

from samovar.core.randomness import torch_generator
from samovar.errors import SettingsError

Layer = nn.Conv2d | nn.Linear
Initialization = Callable[[Layer, torch.Generator], None]


def versa(layer: Layer, generator: torch.Generator) -> None:
    """Draw Xavier weights, normal and cut at two standard deviations, and small normal biases.

    The factor 1.3 makes up for the variance that the cut takes away, as in TensorFlow, so that the
    variance is 2 / (fan in + fan out).
    """
    fan_in, fan_out = _fans(layer)
    std = math.sqrt(1.3 * 2 / (fan_in + fan_out))
    nn.init.trunc_normal_(layer.weight, 0, std, -2 * std, 2 * std, generator=generator)
    if layer.bias is not None:
        nn.init.normal_(layer.bias, 0, 0.001, generator=generator)


def tadam(layer: Layer, generator: torch.Generator) -> None:
    """Draw normal weights with variance 0.2 / fan out; biases are zero."""
    _, fan_out = _fans(layer)
    nn.init.normal_(layer.weight, 0, math.sqrt(0.2 / fan_out), generator=generator)
    _zero_bias(layer)


def xavier(layer: Layer, generator: torch.Generator) -> None:
    """Draw uniform Xavier weights; biases are zero."""
    nn.init.xavier_uniform_(layer.weight, generator=generator)
    _zero_bias(layer)


def as_built(layer: Layer, generator: torch.Generator) -> None:
    """Keep the values that the layer was built with, for example pretrained ones."""
    del layer, generator


@torch.no_grad()
def initialize(model: nn.Module, seed: int, skip: nn.Module | None = None) -> None:
    """Initialise every layer by the rule of the innermost part that it belongs to.

    `skip` is a module of the user's own, which keeps its values.
    """
    skipped = set()
    if skip is not None:
        skipped = set(skip.modules())
    rules = _rules(model)
    for name, module in model.named_modules():
        if module in skipped or not _has_weights(module):
            continue
        if name not in rules or not isinstance(module, Layer):
            raise SettingsError(
                f"The layer {name} ({type(module).__name__}) of this model has no initialisation. "
                "Give the class of the part that it belongs to an attribute `initialization`, such "
                "as staticmethod(samovar.models.initialization.tadam)."
            )
        rules[name](module, torch_generator(seed, f"initialise {name}"))


def _rules(model: nn.Module) -> dict[str, Initialization]:
    """Return the rule of every module by name; inner parts override outer ones."""
    rules: dict[str, Initialization] = {}
    for name, module in model.named_modules():
        parent = name.rpartition(".")[0]
        rule: Initialization | None = getattr(module, "initialization", None)
        if rule is not None:
            rules[name] = rule
        elif parent in rules:
            rules[name] = rules[parent]
    return rules


def _has_weights(module: nn.Module) -> bool:
    """Return whether a module itself holds a weight matrix or kernel.

    Scales and offsets, which are vectors and scalars, get their initial values where they are made.
    """
    return any(parameter.ndim > 1 for parameter in module.parameters(recurse=False))


def _fans(layer: Layer) -> tuple[int, int]:
    receptive_field = math.prod(layer.weight.shape[2:])
    return layer.weight.shape[1] * receptive_field, layer.weight.shape[0] * receptive_field


def _zero_bias(layer: Layer) -> None:
    if layer.bias is not None:
        nn.init.zeros_(layer.bias)
