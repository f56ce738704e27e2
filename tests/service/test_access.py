"""With a token, nothing about tasks is told to anyone who does not have it."""

import pytest
from helpers_service import client_of, examples, new_task, problem

from samovar.errors import SettingsError
from samovar.service.access import check_token, same_secret

TOKEN = "correct-horse-battery-staple"


@pytest.fixture(scope="module")
def guarded(tmp_path_factory):
    with client_of(tmp_path_factory.mktemp("tasks"), token=TOKEN) as client:
        yield client


def routes_with_tasks(client) -> list[tuple[str, str]]:
    described = client.get("/openapi.json").json()["paths"]
    routes = []
    for path, operations in described.items():
        if path not in ("/healthz", "/readyz"):
            routes += [(method.upper(), path) for method in operations]
    return routes


def test_every_route_but_health_asks_for_the_token(guarded):
    routes = routes_with_tasks(guarded)
    assert len(routes) > 12
    for method, path in routes:
        for part in ("{task}", "{example}", "{class}"):
            path = path.replace(part, "0" * 16)
        for headers in ({}, {"Authorization": f"Bearer {TOKEN}x"}, {"Authorization": "Basic x"}):
            answer = guarded.request(method, path, headers=headers)
            assert "asks for a token" in problem(answer, 401)
            assert answer.headers["www-authenticate"] == "Bearer"


def test_no_body_is_read_before_the_token_is_checked(guarded, photos):
    answer = guarded.post("/v1/tasks", content=b"x" * 10**6, headers={"content-type": "text/x"})
    problem(answer, 401)  # and not 415, which comes with reading


def test_who_has_the_token_may_do_everything(guarded, photos):
    guarded.headers["Authorization"] = f"Bearer {TOKEN}"
    try:
        task = new_task(guarded, photos, 1)
        assert guarded.get(f"/v1/tasks/{task['id']}").status_code == 200
        grown = guarded.post(f"/v1/tasks/{task['id']}/examples", **examples(photos, 2))
        assert grown.status_code == 200
        assert guarded.get("/metrics").status_code == 200
    finally:
        del guarded.headers["Authorization"]


def test_health_and_the_files_of_the_page_are_for_everyone(guarded):
    for path in ("/", "/page/main.js", "/healthz", "/openapi.json"):
        assert guarded.get(path).status_code == 200


@pytest.mark.parametrize("token", ["short", "with a space in it", "ümlaut-ümlaut-ümlaut", "x" * 15])
def test_tokens_that_can_be_guessed_or_not_be_sent_are_refused(token):
    with pytest.raises(SettingsError, match="token"):
        check_token(token)
    check_token("x" * 16)


def test_secrets_are_compared_whole():
    assert same_secret("ä\udcff", "ä\udcff")
    assert not same_secret("abc", "abcd")
    assert not same_secret("", "abc")
