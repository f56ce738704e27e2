"""Settings as stored files hold them: read with care, and compared.

Files may hold anything, so every value is checked against the type of its field. Two trees of
settings are compared field by field; the differences are values, which become messages or flags
where they are needed.
"""

import dataclasses
import types
import typing
from dataclasses import dataclass
from typing import Any, Literal, TypeVar

from samovar.errors import SettingsError

Settings = TypeVar("Settings")


@dataclass(frozen=True)
class Difference:
    """One field in which two trees of settings differ.

    >>> print(Difference(("optimizer", "clip"), 0.0, 0.1))
    optimizer.clip: 0.0 -> 0.1
    """

    path: tuple[str, ...]
    """The names of the fields from the root of the tree to this one."""
    old: Any
    new: Any

    def __str__(self) -> str:
        return f"{'.'.join(self.path)}: {self.old} -> {self.new}"


LATER = {"later": True}
"""Metadata of a field that was added after models were stored; see `to_dict`."""


def to_dict(settings: Any) -> dict[str, Any]:
    """Return the form in which settings are stored, and from which `from_dict` reads them.

    It is that of `dataclasses.asdict`, but a field with the metadata `LATER` is left out while it
    has its default. Stored files and hashes of models that do not use it therefore stay as they
    were before the field existed.

    >>> from samovar.settings.model import ModelSettings
    >>> "count_input" in to_dict(ModelSettings())
    False
    >>> to_dict(ModelSettings(count_input=True))["count_input"]
    True
    """
    stored: dict[str, Any] = {}
    for field in dataclasses.fields(settings):
        value = getattr(settings, field.name)
        if field.metadata.get("later") and value == field.default:
            continue
        if dataclasses.is_dataclass(value):
            value = to_dict(value)
        stored[field.name] = value
    return stored


def from_dict(kind: type[Settings], values: dict[str, Any]) -> Settings:
    """Return a tree of dataclasses from the JSON form of `to_dict`.

    Unknown names are refused. Missing fields take their default. So a field that is added later
    must by default do what was done without it; then stored models, runs and evidence stay
    readable.

    >>> from samovar.settings.data import DataSettings
    >>> from_dict(DataSettings, {"name": "omniglot", "rotations": True}).normalisation
    'standard'
    """
    if not isinstance(values, dict):
        raise SettingsError(
            f"The stored {kind.__name__} is {values!r}, which is not a table of settings."
        )
    _check_names(kind, values)
    hints = typing.get_type_hints(kind)
    fields = {}
    for name, value in values.items():
        fields[name] = _checked(hints[name], value)
    return kind(**fields)


def _check_names(kind: type[Any], values: dict[str, Any]) -> None:
    """Refuse names that the dataclass does not have, and the absence of those without a default."""
    known = set()
    required = set()
    for field in dataclasses.fields(kind):
        known.add(field.name)
        if field.default is dataclasses.MISSING and field.default_factory is dataclasses.MISSING:
            required.add(field.name)
    unknown = values.keys() - known
    missing = required - values.keys()
    if unknown or missing:
        names = ", ".join(sorted(unknown | missing))
        raise SettingsError(f"The stored {kind.__name__} has unknown or missing fields: {names}.")


def _checked(hint: Any, value: Any) -> Any:
    """Return the value as its field holds it, or refuse it if it is not of the field's type."""
    origin = typing.get_origin(hint)
    arguments = typing.get_args(hint)
    if dataclasses.is_dataclass(hint) and isinstance(value, dict):
        return from_dict(typing.cast(type, hint), value)
    if origin in (types.UnionType, typing.Union):
        if value is None:
            return None
        # The only unions among settings are `X | None`.
        (inner,) = set(arguments) - {type(None)}
        return _checked(inner, value)
    if origin is tuple and isinstance(value, list | tuple):
        return tuple(_checked(arguments[0], element) for element in value)
    if not _fits(hint, value):
        raise SettingsError(f"A stored setting is {value!r}, which is not {hint}.")
    return value


def _fits(hint: Any, value: Any) -> bool:
    if typing.get_origin(hint) is Literal:
        return value in typing.get_args(hint)
    if hint is float:
        # JSON writes 1.0 as 1 at times; a bool is an int to Python, but not a number here.
        return isinstance(value, int | float) and not isinstance(value, bool)
    return type(value) is hint


def differences(first: Any, second: Any, path: tuple[str, ...] = ()) -> list[Difference]:
    """Return the fields in which two trees of dataclasses differ, from `first` to `second`.

    >>> from samovar.settings.data import DataSettings
    >>> differences(DataSettings("omniglot"), DataSettings("glyphs"))
    [Difference(path=('name',), old='omniglot', new='glyphs')]
    """
    differing: list[Difference] = []
    for field in dataclasses.fields(first):
        old = getattr(first, field.name)
        new = getattr(second, field.name)
        here = (*path, field.name)
        if dataclasses.is_dataclass(old) and type(old) is type(new):
            differing += differences(old, new, here)
        elif old != new:
            differing.append(Difference(here, old, new))
    return differing
