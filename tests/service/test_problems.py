"""Whatever goes wrong is a problem document, and no error tells where our files are."""

import errno
import json

import pytest
from helpers_service import problem
from starlette.exceptions import HTTPException

from samovar.errors import DataError, OutputError
from samovar.service.problems import MEDIA_TYPE, Problem, SkippedFile, problem_of


@pytest.mark.parametrize(
    ("error", "status"),
    [
        (Problem(413, "Too much."), 413),
        (DataError("It is damaged."), 422),
        (OutputError("Cannot write /secret/place."), 507),
        (OSError(errno.ENOSPC, "No space left on device", "/secret/place"), 507),
        (HTTPException(405, "Method Not Allowed"), 405),
        (MemoryError(), 503),
        (ZeroDivisionError("/secret/place"), 500),
    ],
)
def test_every_error_has_a_status_and_a_sentence(error, status):
    response = problem_of(error).response()
    document = json.loads(bytes(response.body))
    assert response.status_code == document["status"] == status
    assert response.media_type == MEDIA_TYPE
    assert document["detail"].endswith(".")
    assert "secret" not in document["detail"]


def test_files_that_are_the_reason_are_listed():
    skipped = [SkippedFile(name="a.jpg", reason="a.jpg is damaged.")]
    document = json.loads(bytes(Problem(422, "No.", skipped=skipped).response().body))
    assert document["skipped"] == [{"name": "a.jpg", "reason": "a.jpg is damaged."}]


def test_control_characters_of_a_client_do_not_come_back():
    assert "\x1b" not in bytes(Problem(422, "\x1b[31m").response().body).decode()


def test_unknown_paths_methods_and_ids_are_problems(client):
    assert problem(client.get("/v2/tasks"), 404)
    assert problem(client.get("/v1/tasks/"), 404)
    assert problem(client.put("/v1/tasks"), 405)
    for bad in ("x", "0" * 15, "0" * 17, "..%2f..%2fetc", "ABCDEF0123456789"):
        answer = client.get(f"/v1/tasks/{bad}")
        assert answer.status_code in (404, 422)
        assert problem(answer, answer.status_code)
