"""The reader of every JSON file of our own: bounded, typed, and never half trusted.

A file may come from anyone, and a disk may have changed it. So it is read once, where it enters:
its size, its depth and its numbers are limited, and its content is checked against a dataclass
(`settings.checked`). What passes can be used without further checks of types; what does not is an
`UnreadableError` that says what is wrong.
"""

import hashlib
import json
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any, TypeVar

from samovar.core.input_files import read_input
from samovar.errors import DataError, UnreadableError
from samovar.settings.checked import checked, shortened

Kind = TypeVar("Kind")

LARGEST_FILE = 32_000_000
"""Bytes. Nothing but empty lists, such a file takes 0.8 GB of memory."""
DEEPEST = 50
"""Levels of lists and tables in each other; our own files have fewer than ten."""
LARGEST_NUMBER = {int: 2**63 - 1, float: sys.float_info.max, bool: 1}
"""Whole numbers beyond 63 bits fit neither NumPy nor torch, and 1e999 is read as infinity."""


def read_json(path: Path, kind: type[Kind], most: int = LARGEST_FILE) -> Kind:
    """Read a JSON file of at most so many bytes as a value of a type, usually a dataclass."""
    return parse_json(read_bytes(path, most), kind)


def parse_json(content: bytes | str, kind: type[Kind], *, nan_is_null: bool = False) -> Kind:
    """Return what JSON says as a value of a type, usually a dataclass.

    Python writes NaN and Infinity, which JSON does not have. They are refused, or read as null.

    >>> parse_json('{"shot": 5}', dict[str, int])
    {'shot': 5}
    """
    constant = _null if nan_is_null else _refuse_constant
    try:
        value = json.loads(content, parse_constant=constant)
    except RecursionError as error:
        raise UnreadableError(_TOO_DEEP) from error
    except ValueError as error:  # also of text that is not UTF-8
        raise UnreadableError(f"it is not JSON: {shortened(str(error))}") from error
    _check_limits(value)
    return checked(kind, value)


_TOO_DEEP = f"its lists and tables are nested more than {DEEPEST} deep"


def _refuse_constant(name: str) -> None:
    raise ValueError(f"{name} is not a number that JSON has")


def _null(_: str) -> None:
    return None


def _check_limits(value: Any) -> None:
    """Refuse deep nesting and huge numbers, which JSON allows and nothing of ours can use."""
    level = [value]
    for _ in range(DEEPEST):
        inner: list[Any] = []
        for entry in level:
            if isinstance(entry, dict):
                inner += entry.values()
            elif isinstance(entry, list):
                inner += entry
            elif isinstance(entry, int | float) and not abs(entry) <= LARGEST_NUMBER[type(entry)]:
                raise UnreadableError("it has a number that is too large")
        if not inner:
            return
        level = inner
    raise UnreadableError(_TOO_DEEP)


def read_bytes(path: Path, most: int = LARGEST_FILE) -> bytes:
    """Return the content of a file of at most so many bytes; devices and pipes are refused."""
    path.stat()  # that there is no file is an OSError, which readers tell from damage
    try:
        return read_input(path, most)
    except DataError as error:
        raise UnreadableError(str(error).removesuffix(".")) from error


def seal(facts: Mapping[str, Any]) -> str:
    """Return the checksum of all facts but the seal itself: it tells damage to the file."""
    sealed = dict(facts)
    sealed.pop("seal", None)
    return hash_json(sealed)


def hash_json(value: Any) -> str:
    """Return the SHA-256 of the JSON form, whatever the order of its keys."""
    return hashlib.sha256(json.dumps(value, sort_keys=True).encode()).hexdigest()
