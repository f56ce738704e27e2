"""Settings survive the way through the environment to a worker process."""

import pytest

from samovar.errors import UnreadableError
from samovar.service.settings import Limits, ServiceSettings


def test_settings_are_the_same_after_json():
    settings = ServiceSettings(
        "/somewhere", token="x" * 20, hosts=("a", "b"), keep_images=True, limits=Limits(body=5)
    )
    assert ServiceSettings.from_json(settings.to_json()) == settings


def test_what_is_not_settings_is_refused():
    with pytest.raises(UnreadableError):
        ServiceSettings.from_json('{"tasks": 3}')
