"""Settings as stored files hold them: read with care, and compared."""

import dataclasses
import types
import typing
from typing import Any, Literal, TypeVar

from samovar.errors import SettingsError

Settings = TypeVar("Settings")


def from_dict(kind: type[Settings], values: dict[str, Any]) -> Settings:
    """A dataclass tree from the JSON form of `dataclasses.asdict`; unknown names are refused.

    What is not there takes its default: a field that is added later must do by default what was done without it, so
    that stored models, runs and evidence stay readable.

    >>> from_dict(DataSettings, {"name": "omniglot", "rotations": True}).normalisation
    'standard'
    """
    if not isinstance(values, dict):
        raise SettingsError(
            f"The stored {kind.__name__} is {values!r}, which is not a table of settings."
        )
    hints = typing.get_type_hints(kind)
    fields = dataclasses.fields(kind)  # type: ignore[arg-type]
    required = {
        each.name for each in fields if each.default is each.default_factory is dataclasses.MISSING
    }
    wrong = sorted(set(values) - {each.name for each in fields} | required - set(values))
    if wrong:
        raise SettingsError(
            f"The stored {kind.__name__} has unknown or missing fields: {', '.join(wrong)}."
        )
    return kind(**{name: _value(hints[name], value) for name, value in values.items()})


def _value(hint: Any, value: Any) -> Any:
    """A value of the kind that a field has, or a complaint: files may hold anything."""
    if dataclasses.is_dataclass(hint) and isinstance(value, dict):
        return from_dict(typing.cast(type, hint), value)
    origin, arguments = typing.get_origin(hint), typing.get_args(hint)
    if origin in (types.UnionType, typing.Union):
        return (
            None
            if value is None
            else _value(next(each for each in arguments if each is not type(None)), value)
        )
    if origin is tuple and isinstance(value, list | tuple):
        return tuple(_value(arguments[0], each) for each in value)
    number = isinstance(value, int | float) and not isinstance(value, bool)
    fits = (
        value in arguments
        if origin is Literal
        else number
        if hint is float
        else type(value) is hint
    )
    if not fits:
        raise SettingsError(f"A stored setting is {value!r}, which is not {hint}.")
    return value


def differences(first: Any, second: Any, prefix: str = "") -> list[str]:
    """Fields in which two dataclass trees differ, as flag: old -> new."""
    found = []
    for each in dataclasses.fields(first):
        old, new, name = (
            getattr(first, each.name),
            getattr(second, each.name),
            f"{prefix}{each.name}",
        )
        if dataclasses.is_dataclass(old) and type(old) is type(new):
            found += differences(old, new, f"{name}.")
        elif old != new:
            found.append(f"{name}: {old} -> {new}")
    return found
