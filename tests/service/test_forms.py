"""Forms are read strictly, and described in OpenAPI by the same fields."""

import pytest
from helpers_service import problem

from samovar.service.forms import ARCHIVE, FILES, LABELS, form_body


@pytest.mark.parametrize("kind", ["application/json", "text/plain", "", "multipart/mixed"])
def test_anything_but_a_form_is_of_the_wrong_type(client, kind):
    answer = client.post("/v1/tasks", content=b"{}", headers={"content-type": kind})
    assert "multipart/form-data" in problem(answer, 415)


@pytest.mark.parametrize(
    ("kind", "content"),
    [
        ("multipart/form-data", b"x"),
        ("multipart/form-data; boundary=", b"x"),
        ("multipart/form-data; boundary=x", b"nonsense"),
        ("multipart/form-data; boundary=x", b""),
        ("multipart/form-data; boundary=x", b"--x\r\nContent-Disposition: form-data\r\n\r\n1\r\n"),
        ("multipart/form-data; boundary=\xff", b"--\xff--"),
    ],
)
def test_broken_forms_are_refused_in_a_sentence(client, kind, content):
    headers = {"content-type": kind.encode("latin-1")}
    answer = client.post("/v1/tasks", content=content, headers=headers)
    problem(answer, 422)


def test_a_text_that_is_too_long_is_refused(client):
    problem(client.post("/v1/tasks", data={"labels": "x" * 3000}, files={"files": b"x"}), 413)


def test_a_field_that_is_sent_twice_is_refused(client):
    files = [("archive", ("a.zip", b"x")), ("archive", ("b.zip", b"x"))]
    assert "more than once" in problem(client.post("/v1/tasks", files=files), 422)


def test_a_form_is_described_by_its_fields():
    fields = {"files": FILES, "labels": LABELS, "archive": ARCHIVE}
    content = form_body(fields, ["files"])["requestBody"]["content"]["multipart/form-data"]
    assert content["schema"]["required"] == ["files"]
    assert content["schema"]["properties"]["files"]["type"] == "array"
    assert content["schema"]["properties"]["archive"]["format"] == "binary"
    assert set(content["encoding"]) == {"files", "archive"}
