"""The application describes itself, and tells of no route that is not there."""

import torch
from helpers_service import client_of

from samovar.service.app import from_environment
from samovar.service.settings import VARIABLE, ServiceSettings


def test_the_description_has_every_route_and_the_form_of_problems(client):
    described = client.get("/openapi.json").json()
    assert set(described["paths"]) == {
        "/v1/tasks",
        "/v1/tasks/{task}",
        "/v1/tasks/{task}/examples",
        "/v1/tasks/{task}/examples/{example}",
        "/v1/tasks/{task}/examples/{example}/thumbnail",
        "/v1/tasks/{task}/examples/{example}/image",
        "/v1/tasks/{task}/classes/{class}",
        "/v1/tasks/{task}/predict",
        "/v1/tasks/{task}/next",
        "/v1/tasks/{task}/map",
        "/v1/tasks/{task}/file",
        "/healthz",
        "/readyz",
        "/metrics",
    }
    assert "ProblemDocument" in described["components"]["schemas"]
    assert "securitySchemes" not in described["components"]


def test_a_token_is_part_of_the_description(tmp_path):
    with client_of(tmp_path, token="x" * 16) as client:
        described = client.get("/openapi.json").json()
    assert described["components"]["securitySchemes"]["HTTPBearer"]["scheme"] == "bearer"
    assert described["paths"]["/v1/tasks"]["get"]["security"] == [{"HTTPBearer": []}]
    assert "security" not in described["paths"]["/healthz"]["get"]


def test_pages_that_load_scripts_from_elsewhere_are_off(client):
    for path in ("/docs", "/redoc"):
        assert client.get(path).status_code == 404


def test_worker_processes_take_their_settings_from_the_environment(tmp_path, monkeypatch):
    settings = ServiceSettings(str(tmp_path), token="y" * 16, threads=3)
    monkeypatch.setenv(VARIABLE, settings.to_json())
    threads = torch.get_num_threads()
    try:
        app = from_environment()
        assert app.state.service.settings == settings
        assert torch.get_num_threads() == 1
    finally:
        torch.set_num_threads(threads)
    app.state.work.close()
