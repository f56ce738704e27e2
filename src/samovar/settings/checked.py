"""Values of any origin, checked against a type, or refused in words.

The work is msgspec's: it turns what JSON holds into dataclasses and checks the type, the range and
the length of every value. Its messages speak of types of Python; here they become sentences.
"""

import re
from typing import Any, TypeVar

import msgspec

from samovar.errors import UnreadableError

Kind = TypeVar("Kind")

LONGEST_REASON = 300
"""Characters of an error message; what a file holds may be repeated in it."""

WORDS = {
    "int": "a whole number",
    "float": "a number",
    "str": "text",
    "bool": "true or false",
    "object": "a table",
    "array": "a list",
    "null": "null",
}
"""What types are called where they are expected."""

GIVEN = WORDS | {"float": "a decimal number", "bool": "a truth value"}
"""What they are called where another one is expected."""

MISMATCH = re.compile(r"Expected `([^`]+)`, got `([^`]+)`")
MISSING = re.compile(r"Object missing required field `([^`]+)`")
CHOICE = re.compile(r"Invalid enum value (.*)")
PLACE = re.compile(r"(.*) - at `\$\.?(.*)`", re.DOTALL)


def checked(kind: type[Kind], value: Any) -> Kind:
    """Return a value as its type has it: tables become dataclasses, lists become tuples.

    Whole numbers are accepted where a number is expected, but nothing else is converted. Entries
    that the dataclass does not have are ignored.

    >>> checked(tuple[float, ...], [1, 2.5])
    (1.0, 2.5)
    >>> checked(dict[str, int], {"shot": "five"})
    Traceback (most recent call last):
    ...
    samovar.errors.UnreadableError: [...] must be a whole number, but is text
    """
    try:
        return msgspec.convert(value, kind)
    except msgspec.ValidationError as error:
        raise UnreadableError(shortened(_in_words(str(error)))) from error
    except UnicodeEncodeError as error:  # half a character, where a name or a choice is expected
        raise UnreadableError("it has text with invalid characters") from error


def shortened(text: str) -> str:
    """Return the text, or its beginning if it is very long."""
    if len(text) <= LONGEST_REASON:
        return text
    return f"{text[:LONGEST_REASON]}..."


def _in_words(message: str) -> str:
    """Return a message of msgspec as part of a sentence that says where and what."""
    where = "it"
    placed = PLACE.fullmatch(message)
    if placed is not None:
        message = placed[1]
        where = placed[2] or where
    mismatch = MISMATCH.fullmatch(message)
    if mismatch is not None:
        given = GIVEN.get(mismatch[2], mismatch[2])
        return f"{where} must be {_named(mismatch[1])}, but is {given}"
    missing = MISSING.fullmatch(message)
    if missing is not None:
        return f"{where} has no {missing[1]!r}"
    choice = CHOICE.fullmatch(message)
    if choice is not None:
        return f"{where} cannot be {choice[1]}"
    message = message.removesuffix(".")
    if where == "it":
        return message
    return f"{where}: {message}"


def _named(types: str) -> str:
    """Return the words for types such as `int | null`."""
    return " or ".join(WORDS.get(name, name) for name in types.split(" | "))
