"""A name that is nearly right is recognised."""

import pytest

from samovar.core.suggestions import did_you_mean


@pytest.mark.parametrize(
    ("name", "suggestion"),
    [
        ("cifar-fs", "cifar_fs"),
        ("CIFAR_FS", "cifar_fs"),
        ("glyph", "glyphs"),
        ("Photo", "Photos"),
        ("zebra", None),
        ("", None),
    ],
)
def test_the_nearest_name_is_suggested_if_it_is_near(name, suggestion):
    text = did_you_mean(name, ["cifar_fs", "glyphs", "Photos"])
    assert text == ("" if suggestion is None else f" Did you mean {suggestion}?")
