"""Values of any origin become dataclasses, or are refused in words that name the place."""

from dataclasses import dataclass
from typing import Annotated, Any, Literal

import msgspec
import pytest

from samovar.errors import SettingsError, UnreadableError
from samovar.settings.checked import LONGEST_REASON, checked


@dataclass(frozen=True)
class Leaf:
    count: Annotated[int, msgspec.Meta(ge=1)]
    kind: Literal["red", "green"] = "red"
    share: float = 0.5

    def __post_init__(self) -> None:
        if self.share > 1:
            raise SettingsError("share must be at most 1.")


@dataclass(frozen=True)
class Tree:
    name: str | None
    leaves: tuple[Leaf, ...]


def test_tables_become_dataclasses():
    stored = {"name": None, "leaves": [{"count": 2, "kind": "green", "share": 1}], "later": 3}
    assert checked(Tree, stored) == Tree(None, (Leaf(2, "green", 1.0),))


@pytest.mark.parametrize(
    ("stored", "words"),
    [
        ([], "it must be a table, but is a list"),
        ({"leaves": []}, "it has no 'name'"),
        ({"name": 3, "leaves": []}, "name must be text or null, but is a whole number"),
        ({"name": "", "leaves": [{}]}, r"leaves\[0\] has no 'count'"),
        ({"name": "", "leaves": [{"count": 1.5}]}, "whole number, but is a decimal number"),
        ({"name": "", "leaves": [{"count": True}]}, "whole number, but is a truth value"),
        ({"name": "", "leaves": [{"count": 0}]}, r"leaves\[0\].count: Expected `int` >= 1"),
        ({"name": "", "leaves": [{"count": 1, "kind": "blue"}]}, "kind cannot be 'blue'"),
        (
            {"name": "", "leaves": [{"count": 1, "share": 2}]},
            r"leaves\[0\]: share must be at most 1$",
        ),
    ],
)
def test_other_values_are_refused_with_their_place(stored: Any, words: str):
    with pytest.raises(UnreadableError, match=words):
        checked(Tree, stored)


def test_half_characters_are_kept_as_text_and_refused_as_names_and_choices():
    """Folder names that are not UTF-8 have them."""
    half = "\udcff"
    assert checked(Tree, {"name": half, "leaves": []}).name == half
    for stored in ({half: 1, "leaves": []}, {"leaves": [{"count": 1, "kind": half}], "name": ""}):
        with pytest.raises(UnreadableError):
            checked(Tree, stored)


def test_a_message_does_not_grow_with_the_file():
    stored = {"name": "", "leaves": [{"count": 1, "kind": "x" * 100_000}]}
    with pytest.raises(UnreadableError) as error:
        checked(Tree, stored)
    assert len(str(error.value)) <= LONGEST_REASON + 3
