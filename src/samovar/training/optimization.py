"""Parameter groups, weight decay, clipping and the step size as a function of the update."""

import math
from collections.abc import Iterable

import torch
from torch import Tensor, nn

from samovar.core.randomness import generator
from samovar.models.few_shot_model import FewShotModel
from samovar.settings.training import OptimizerSettings


def step_size(settings: OptimizerSettings, update: int, updates: int) -> float:
    """The step size of an update (from 0), out of so many."""
    if settings.schedule == "drops":
        return settings.learning_rate * 0.1 ** sum(update >= drop for drop in settings.drops)
    if settings.schedule == "one_cycle":
        rise = max(1.0, 0.3 * updates)
        if update < rise:
            share = 0.04 + 0.96 * 0.5 * (1 - math.cos(math.pi * update / rise))
        else:
            share = 0.5 * (1 + math.cos(math.pi * (update - rise) / max(1.0, updates - rise)))
        return settings.learning_rate * share
    return settings.learning_rate


def has_auxiliary_step(seed: int, update: int, updates: int) -> bool:
    """Does auxiliary co-training go before this update? With probability rho = 0.9^floor(12 t / T)."""
    return bool(generator(seed, "auxiliary", update).random() < 0.9 ** (12 * update // updates))


def decays(model: FewShotModel, settings: OptimizerSettings) -> dict[str, float]:
    """Weight decay by parameter name: kernels of convolutions and dense layers, and TEN's multipliers; nothing else."""
    by_part = {
        "backbone": settings.decay_extractor,
        "task_embedding": settings.decay_task_embedding,
        "auxiliary_head": settings.decay_auxiliary,
        "prior_network": settings.decay_inference,
        "posterior_network": settings.decay_inference,
    }
    found = {}
    for name, parameter in model.named_parameters():
        if name.startswith("task_embedding.multipliers"):
            found[name] = settings.decay_multipliers
        elif parameter.ndim > 1:
            found[name] = by_part[name.split(".")[0]]
    return {name: decay for name, decay in found.items() if decay}


def make_optimizer(
    parameters: Iterable[nn.Parameter], settings: OptimizerSettings
) -> torch.optim.Optimizer:
    """Adam or SGD; the step size is set before each update, decay and clipping are done before it."""
    if settings.kind == "adam":
        return torch.optim.Adam(parameters, settings.learning_rate)
    return torch.optim.SGD(parameters, settings.learning_rate, settings.momentum)


@torch.no_grad()
def decay_and_clip(named: list[tuple[nn.Parameter, float]], settings: OptimizerSettings) -> Tensor:
    """Add the decay to the gradients, then clip them; returns their common norm after the decay."""
    present = [(parameter, decay) for parameter, decay in named if parameter.grad is not None]
    for parameter, decay in present:
        if decay and parameter.grad is not None:
            parameter.grad.add_(parameter, alpha=decay)
    parameters = [parameter for parameter, _ in present]
    if settings.clip and settings.clip_by == "global":
        return nn.utils.clip_grad_norm_(parameters, settings.clip)
    norm = nn.utils.get_total_norm(
        [parameter.grad for parameter in parameters if parameter.grad is not None]
    )
    if settings.clip:
        for parameter in parameters:
            nn.utils.clip_grad_norm_(parameter, settings.clip)
    return norm
