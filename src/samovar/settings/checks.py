"""Checks that several settings share."""

import math
from dataclasses import is_dataclass
from typing import Any

from samovar.errors import SettingsError

DEVICES = ("cpu", "cuda", "mps", "auto")
"""The kinds of device that torch can be asked for here; auto is a GPU where there is one."""


LARGEST = 10**9
"""No number of updates, tasks, images or the like is larger."""


def flag(name: str) -> str:
    """Return the command-line flag of a field.

    >>> flag("optimizer.learning_rate")
    '--optimizer.learning-rate'
    """
    return "--" + name.replace("_", "-")


def check_finite(settings: Any, prefix: str = "") -> None:
    """Refuse NaN, infinity and absurdly large whole numbers anywhere in the settings.

    They slip through range checks. A seed may be any number.
    """
    for name, value in vars(settings).items():
        if isinstance(value, int) and value > LARGEST and name != "seed":
            raise SettingsError(f"{flag(prefix + name)} must be at most {LARGEST:,}.")
        if isinstance(value, float) and not math.isfinite(value):
            raise SettingsError(f"{flag(prefix + name)} must be a finite number, but is {value}.")
        if is_dataclass(value):
            check_finite(value, f"{prefix}{name}.")


def check_at_least(settings: Any, least: int, names: tuple[str, ...], prefix: str = "") -> None:
    """Refuse the first of these fields that is below `least`, or absurdly large.

    `prefix` is what stands before the name in a flag, such as "validation.".
    """
    for name in names:
        value = getattr(settings, name)
        if value < least:
            raise SettingsError(f"{flag(prefix + name)} must be at least {least}, but is {value}.")
        if value > LARGEST:
            raise SettingsError(f"{flag(prefix + name)} must be at most {LARGEST:,}.")


def check_device(kind: str, name: str) -> None:
    """Refuse a kind of device that torch does not have; `name` is what the user wrote."""
    if kind not in DEVICES:
        raise SettingsError(f"The device must be cpu, cuda, mps or auto, but is {name!r}.")
