"""No more than the limit is ever read, whatever a client announces."""

import socket

import httpx
import pytest
from helpers_service import client_of, parts, problem

from samovar.service.settings import Limits

MOST = 200_000


@pytest.fixture(scope="module")
def limited(tmp_path_factory):
    limits = Limits(body=MOST, files=3, file=50_000, patience=0.3)
    with client_of(tmp_path_factory.mktemp("tasks"), limits=limits) as client:
        yield client


def form_header() -> dict[str, str]:
    return {"content-type": "multipart/form-data; boundary=x"}


def test_an_announced_length_beyond_the_limit_is_refused_unread(limited):
    address = (limited.base_url.host, limited.base_url.port)
    with socket.create_connection(address, 10) as connection:
        head = f"POST /v1/tasks HTTP/1.1\r\nHost: localhost\r\nContent-Length: {MOST + 1}\r\n\r\n"
        connection.sendall(head.encode())  # and nothing of the body
        assert b" 413 " in connection.recv(10_000)


def test_a_body_without_a_length_is_cut_off_at_the_limit(limited):
    sent = 0

    def endless():
        nonlocal sent
        yield b'--x\r\nContent-Disposition: form-data; name="files"; filename="a.jpg"\r\n\r\n'
        for _ in range(10_000):
            sent += 10_000
            yield b"a" * 10_000

    try:
        answer = limited.post("/v1/tasks", content=endless(), headers=form_header())
        assert "too large" in problem(answer, 413)
    except (httpx.WriteError, httpx.ReadError, httpx.RemoteProtocolError):
        pass  # the server has closed the connection while we were still sending
    assert sent < 50 * MOST


def test_a_client_that_stops_sending_is_not_waited_for(limited):
    address = (limited.base_url.host, limited.base_url.port)
    with socket.create_connection(address, 10) as connection:
        head = "POST /v1/tasks HTTP/1.1\r\nHost: localhost\r\nContent-Length: 1000\r\n"
        kind = "Content-Type: multipart/form-data; boundary=x\r\n\r\n--x\r\n"
        connection.sendall((head + kind).encode())
        assert b" 408 " in connection.recv(10_000)


def test_too_many_files_are_refused_and_a_large_one_is_named(limited, photos):
    many = parts(photos["bars"][:4])
    detail = problem(limited.post("/v1/tasks", files=many, data={"labels": "a"}), 413)
    assert "At most 3 files" in detail
    large = ("files", ("large.jpg", b"\xff\xd8\xff" + b"x" * 60_000, "image/jpeg"))
    made = limited.post(
        "/v1/tasks", files=[large, *parts(photos["bars"][:1])], data={"labels": "a"}
    )
    assert made.json()["added"] == 1
    assert "more than 50,000 bytes" in made.json()["skipped"][0]["reason"]
