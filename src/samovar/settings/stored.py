"""Settings as stored files hold them: read with care, and compared.

Files may hold anything, so every value is checked against the type of its field. Two trees of
settings are compared field by field; the differences are values, which become messages or flags
where they are needed.
"""

import dataclasses
import typing
from dataclasses import dataclass
from typing import Any, TypeVar

from samovar.errors import SettingsError, UnreadableError
from samovar.settings.checked import checked

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
    try:
        settings = checked(kind, values)
        return _as_written(settings, values)
    except UnreadableError as error:
        raise SettingsError(f"The stored {kind.__name__} cannot be used: {error}.") from error


def _as_written(value: Any, stored: Any) -> Any:
    """Return a checked value with whole numbers where the file has them; refuse unknown names.

    The file may say 1 where the field is a float. The hash of a model is that of its settings as
    they were written, so 1 does not become 1.0.
    """
    if isinstance(value, tuple):
        return tuple(map(_as_written, value, stored))
    if not dataclasses.is_dataclass(value):
        return stored
    names = {field.name for field in dataclasses.fields(value)}
    unknown = sorted(stored.keys() - names)
    if unknown:
        raise UnreadableError(f"it has the unknown entry {unknown[0]!r}")
    changes = {}
    for name, entry in stored.items():
        changes[name] = _as_written(getattr(value, name), entry)
    return dataclasses.replace(typing.cast(Any, value), **changes)


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
