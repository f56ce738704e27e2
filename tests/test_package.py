"""All public names are there."""

import pytest

import samovar


def test_public_names_are_all_there():
    for name in samovar.__all__:
        assert getattr(samovar, name)
    with pytest.raises(AttributeError, match="nonsense"):
        _ = samovar.nonsense
