"""Devices by name, as `--device` and `device=` take them."""

import torch

from samovar.errors import SettingsError
from samovar.settings.checks import check_device


def device_named(name: str) -> torch.device:
    """Return the device called cpu, cuda, cuda:1 or mps; auto is a GPU if there is one.

    >>> device_named("cpu")
    device(type='cpu')
    """
    kind = name.split(":")[0]
    check_device(kind, name)
    if name == "auto":
        # mps is used only where it is asked for by name.
        if torch.cuda.is_available():
            return torch.device("cuda")
        return torch.device("cpu")
    if not _is_available(kind):
        raise SettingsError(f"There is no {kind} device here that torch can use. Use cpu or auto.")
    try:
        # An empty tensor finds out whether a device with this number exists.
        return torch.empty(0, device=name).device
    except RuntimeError as error:
        raise SettingsError(f"The device {name!r} cannot be used: {error}") from error


def _is_available(kind: str) -> bool:
    if kind == "cuda":
        return torch.cuda.is_available()
    if kind == "mps":
        return torch.backends.mps.is_available()
    return True
