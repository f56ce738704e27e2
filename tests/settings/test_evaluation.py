"""The settings of an evaluation refuse what would never end."""

import pytest

from samovar.errors import SettingsError
from samovar.settings.evaluation import MOST_DRAWN, EvaluationSettings


@pytest.mark.parametrize("draw", [-1, MOST_DRAWN + 1])
def test_a_number_of_pictures_out_of_range_is_refused(draw):
    with pytest.raises(SettingsError, match=f"--draw must be from 0 to 100 tasks, but is {draw}"):
        EvaluationSettings(draw=draw)


def test_by_default_the_device_is_found_and_temperatures_are_fitted():
    settings = EvaluationSettings()
    assert settings.device == "auto"
    assert settings.temperature
    assert settings.out is None
