"""Devices by name, as `--device` and `device=` have them."""

import torch

from samovar.errors import SettingsError


def device_named(name: str) -> torch.device:
    """cpu, cuda, cuda:1, mps; auto is a GPU where there is one.

    >>> device_named("cpu")
    device(type='cpu')
    """
    if name == "auto":
        return torch.device("cuda" if torch.cuda.is_available() else "cpu")
    kind = name.split(":")[0]
    there = {
        "cpu": True,
        "cuda": torch.cuda.is_available(),
        "mps": torch.backends.mps.is_available(),
    }
    if kind not in there:
        raise SettingsError(f"The device is cpu, cuda, mps or auto, but {name!r} was asked for.")
    if not there[kind]:
        raise SettingsError(f"There is no {kind} device here that torch can use. Use cpu, or auto.")
    try:
        return torch.empty(0, device=name).device
    except RuntimeError as error:
        raise SettingsError(f"The device {name!r} cannot be used: {error}") from error
