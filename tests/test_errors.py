"""Whoever catches Python's usual errors catches ours too."""

import pytest

from samovar import errors


@pytest.mark.parametrize(
    ("error", "usual"),
    [
        (errors.SettingsError, ValueError),
        (errors.DataError, ValueError),
        (errors.ModelError, ValueError),
        (errors.OutputError, OSError),
    ],
)
def test_an_error_of_ours_is_also_the_usual_one(error, usual):
    assert issubclass(error, usual)


def test_all_errors_of_ours_are_caught_by_one_name():
    kinds = [kind for kind in vars(errors).values() if isinstance(kind, type)]
    assert len(kinds) == 8
    for kind in kinds:
        assert issubclass(kind, errors.SamovarError)
        assert str(kind("what to do")) == "what to do"
