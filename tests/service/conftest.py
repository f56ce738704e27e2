"""A client of the service and photographs to send, shared by the tests of a file."""

import pytest
from helpers_service import client_of, photographs


@pytest.fixture(scope="package")
def photos(tmp_path_factory):
    return photographs(tmp_path_factory.mktemp("photos"))


@pytest.fixture(scope="module")
def client(tmp_path_factory):
    with client_of(tmp_path_factory.mktemp("tasks")) as client:
        yield client
