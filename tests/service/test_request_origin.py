"""Pages of other people cannot use a service on the loopback address."""

import pytest
from helpers_service import client_of, examples, problem

from samovar.service.request_origin import LOOPBACK, host_name


@pytest.fixture(scope="module")
def local(tmp_path_factory):
    with client_of(tmp_path_factory.mktemp("tasks"), hosts=LOOPBACK) as client:
        yield client


@pytest.mark.parametrize(
    "host", ["evil.example", "evil.example:8000", "localhost.evil.example", ""]
)
def test_other_names_for_our_address_are_refused(local, host):
    assert "--allow-host" in problem(local.get("/v1/tasks", headers={"Host": host}), 421)


@pytest.mark.parametrize("host", ["localhost", "LOCALHOST:1", "127.0.0.1:8000", "[::1]:80"])
def test_our_own_names_are_answered(local, host):
    assert local.get("/v1/tasks", headers={"Host": host}).status_code == 200


@pytest.mark.parametrize("origin", ["http://evil.example", "null", "http://localhost:1", "x"])
def test_a_page_of_another_origin_changes_nothing(local, photos, origin):
    headers = {"Origin": origin}
    problem(local.post("/v1/tasks", **examples(photos, 1), headers=headers), 403)
    problem(local.delete(f"/v1/tasks/{'0' * 16}", headers=headers), 403)
    assert local.get("/v1/tasks").json() == []


def test_our_own_page_may_use_it(local, photos):
    own = {"Origin": str(local.base_url).rstrip("/")}
    assert local.post("/v1/tasks", **examples(photos, 1), headers=own).status_code == 201


def test_no_other_page_is_invited(local):
    asked = {"Origin": "http://evil.example", "Access-Control-Request-Method": "POST"}
    answer = local.options("/v1/tasks", headers=asked)
    assert answer.status_code == 405
    readable = local.get("/v1/tasks", headers={"Origin": "http://evil.example"})
    for headers in (answer.headers, readable.headers):
        assert not [name for name in headers if name.startswith("access-control")]


def test_a_host_without_a_sane_name_has_none():
    assert host_name("[") == ""
