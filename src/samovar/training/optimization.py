"""Optimizers: their parameters, weight decay, clipping, and the step size of each update."""

import math
from collections.abc import Iterable
from dataclasses import dataclass

import torch
from torch import Tensor, nn

from samovar.core.randomness import generator
from samovar.errors import SettingsError
from samovar.models.few_shot_model import FewShotModel
from samovar.settings.training import OptimizerSettings


def step_size(settings: OptimizerSettings, update: int, updates: int) -> float:
    """Return the step size of an update, counted from 0, in a run of so many updates."""
    if settings.schedule == "drops":
        passed = sum(update >= drop for drop in settings.drops)
        return settings.learning_rate * 0.1**passed
    if settings.schedule == "one_cycle":
        return settings.learning_rate * _one_cycle(update, updates)
    return settings.learning_rate


def _one_cycle(update: int, updates: int) -> float:
    """Return a factor that rises from 0.04 to 1 in 30 % of the run, then falls to 0, by cosines."""
    rise = max(1.0, 0.3 * updates)
    if update < rise:
        return 0.04 + 0.96 * 0.5 * (1 - math.cos(math.pi * update / rise))
    return 0.5 * (1 + math.cos(math.pi * (update - rise) / max(1.0, updates - rise)))


def has_auxiliary_step(seed: int, update: int, updates: int) -> bool:
    """Draw whether an auxiliary step precedes update t of T: probability 0.9^floor(12 t / T)."""
    return bool(generator(seed, "auxiliary", update).random() < 0.9 ** (12 * update // updates))


def weight_decays(model: FewShotModel, settings: OptimizerSettings) -> dict[str, float]:
    """Return the weight decay of each parameter that has one, by name.

    Kernels of convolutions and dense layers decay, and so do TEN's multipliers; offsets, biases
    and the weights of norms do not.
    """
    fields = _decay_fields(model)
    decays = {}
    for name, parameter in model.named_parameters():
        if name.startswith("task_embedding.multipliers"):
            decays[name] = settings.decay_multipliers
        elif parameter.ndim > 1:  # a kernel; all else is a vector
            part = name.split(".")[0]
            decays[name] = getattr(settings, _decay_field(model, fields, part, name))
    return {name: decay for name, decay in decays.items() if decay}


def _decay_fields(model: FewShotModel) -> dict[str, str]:
    """Return the table of parts and fields: a subclass need only declare its own parts."""
    fields: dict[str, str] = {}
    # From the base class to the subclass, so that a subclass may also change what it inherits.
    for kind in reversed(type(model).__mro__):
        fields |= vars(kind).get("weight_decays", {})
    return fields


def _decay_field(model: FewShotModel, fields: dict[str, str], part: str, name: str) -> str:
    """Return the field with a part's weight decay, or say how to declare it."""
    if part not in fields:
        raise SettingsError(
            f"Which weight decay applies to the parameter {name!r}? Declare it on "
            f'{type(model).__name__}: weight_decays = {{"{part}": "decay_inference"}}, '
            "or another of the decay fields of OptimizerSettings."
        )
    if not hasattr(OptimizerSettings, fields[part]):
        raise SettingsError(
            f"{type(model).__name__}.weight_decays names {fields[part]!r} for {part!r}, "
            "which is not a field of OptimizerSettings."
        )
    return fields[part]


@dataclass(frozen=True)
class LossOptimizer:
    """The optimizer of one loss, with the parameters it moves and their weight decays."""

    name: str
    """Names its tensors in checkpoints."""
    optimizer: torch.optim.Optimizer
    parameters: list[tuple[nn.Parameter, float]]


def loss_optimizers(model: FewShotModel, settings: OptimizerSettings) -> list[LossOptimizer]:
    """Return an optimizer for the few-shot loss, and one for the auxiliary loss if there is one.

    The auxiliary loss moves the backbone and the auxiliary head, the few-shot loss everything but
    that head. Each optimizer has its own momentum.
    """
    head = model.auxiliary_head
    if head is None:
        return [_loss_optimizer("few_shot", model, list(model.parameters()), settings)]
    in_head = set(head.parameters())
    few_shot = [parameter for parameter in model.parameters() if parameter not in in_head]
    auxiliary = [*model.backbone.parameters(), *head.parameters()]
    return [
        _loss_optimizer("few_shot", model, few_shot, settings),
        _loss_optimizer("auxiliary", model, auxiliary, settings),
    ]


def _loss_optimizer(
    name: str, model: FewShotModel, parameters: list[nn.Parameter], settings: OptimizerSettings
) -> LossOptimizer:
    by_name = weight_decays(model, settings)
    decays = {parameter: by_name.get(key, 0.0) for key, parameter in model.named_parameters()}
    members = [(parameter, decays[parameter]) for parameter in parameters]
    return LossOptimizer(name, make_optimizer(parameters, settings), members)


def make_optimizer(
    parameters: Iterable[nn.Parameter], settings: OptimizerSettings
) -> torch.optim.Optimizer:
    """Return Adam or SGD; step size, decay and clipping are applied before each of its steps."""
    if settings.kind == "adam":
        return torch.optim.Adam(parameters, settings.learning_rate)
    return torch.optim.SGD(parameters, settings.learning_rate, settings.momentum)


@torch.no_grad()
def decay_and_clip(
    parameters: list[tuple[nn.Parameter, float]], settings: OptimizerSettings
) -> Tensor:
    """Add the decays to the gradients, clip them, and return their joint norm before clipping."""
    present = []
    gradients = []
    for parameter, decay in parameters:
        if parameter.grad is None:  # the loss of this update does not depend on it
            continue
        if decay:
            parameter.grad.add_(parameter, alpha=decay)
        present.append(parameter)
        gradients.append(parameter.grad)
    # Clipping by the joint norm computes it anyway.
    if settings.clip and settings.clip_by == "global":
        return nn.utils.clip_grad_norm_(present, settings.clip)
    norm = nn.utils.get_total_norm(gradients)
    if settings.clip:
        for parameter in present:
            nn.utils.clip_grad_norm_(parameter, settings.clip)
    return norm
