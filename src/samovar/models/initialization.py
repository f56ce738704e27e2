"""First values of the parameters, as VERSA and TADAM have them; each tensor's noise belongs to its name."""

import math

import torch
from torch import nn

from samovar.core.randomness import torch_generator
from samovar.models.backbones.conv import Conv
from samovar.models.inference import MLPInference


@torch.no_grad()
def initialize(model: nn.Module, seed: int, skip: nn.Module | None = None) -> None:
    """VERSA's values in CONV and its inference networks, TADAM's in the rest; `skip`, a user's module, stays as is."""
    skipped = set(skip.modules()) if skip is not None else set()
    versa = {
        part
        for owner in model.modules()
        if isinstance(owner, Conv | MLPInference)
        for part in owner.modules()
    }
    for name, module in model.named_modules():
        if not isinstance(module, nn.Conv2d | nn.Linear) or module in skipped:
            continue
        generator = torch_generator(seed, f"initialise {name}")
        fan_in, fan_out = (
            size * math.prod(module.weight.shape[2:])
            for size in (module.weight.shape[1], module.weight.shape[0])
        )
        if (
            module in versa
        ):  # Xavier, normal, cut at two standard deviations; 1.3 undoes what the cut takes (TF's way)
            std = math.sqrt(1.3 * 2 / (fan_in + fan_out))
            nn.init.trunc_normal_(module.weight, 0, std, -2 * std, 2 * std, generator=generator)
        elif name == "auxiliary_head":
            nn.init.xavier_uniform_(module.weight, generator=generator)
        else:
            nn.init.normal_(module.weight, 0, math.sqrt(0.2 / fan_out), generator=generator)
        if module.bias is not None:
            if module in versa:
                nn.init.normal_(module.bias, 0, 0.001, generator=generator)
            else:
                nn.init.zeros_(module.bias)
