"""Options that make no sense are refused."""

import pytest

from samovar.errors import SettingsError
from samovar.experiments.options import ReproduceOptions


def test_at_least_one_run_is_trained_at_a_time():
    assert ReproduceOptions(jobs=1).jobs == 1
    with pytest.raises(SettingsError, match="--jobs must be at least 1, but is 0"):
        ReproduceOptions(jobs=0)
