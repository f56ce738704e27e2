"""Checks that several settings share."""

import math
from dataclasses import is_dataclass
from typing import Any

from samovar.errors import SettingsError


def check_finite(settings: Any) -> None:
    """Refuse settings with a number that is none or infinite: comparisons with it let it pass every other check."""
    for name, value in vars(settings).items():
        if isinstance(value, float) and not math.isfinite(value):
            raise SettingsError(
                f"--{name.replace('_', '-')} must be a finite number, but is {value}."
            )
        if is_dataclass(value):
            check_finite(value)
