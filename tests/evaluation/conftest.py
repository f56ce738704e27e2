"""A small data set to measure on."""

import pytest
from helpers import make_store

from samovar.data.dataset import Dataset


@pytest.fixture
def dataset(tmp_path) -> Dataset:
    return Dataset(make_store(tmp_path, [9] * 8, (12, 12, 3)))
