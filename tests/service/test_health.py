"""Whoever runs the service can see that it is there, that it is ready, and what it does."""

import threading

from helpers_service import problem


def test_the_server_is_there_and_becomes_ready(client):
    assert client.get("/healthz").json() == {"status": "ok"}
    assert client.app.state.ready.wait(60)
    assert client.get("/readyz").json() == {"status": "ready"}


def test_it_is_not_ready_before_the_model_is_loaded(client):
    loaded = client.app.state.ready
    client.app.state.ready = threading.Event()
    try:
        answer = client.get("/readyz")
        assert "being loaded" in problem(answer, 503)
        assert answer.headers["retry-after"] == "1"
        assert client.get("/healthz").status_code == 200
    finally:
        client.app.state.ready = loaded
