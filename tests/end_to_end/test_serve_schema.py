"""Schemathesis finds nothing: what the service does is what its OpenAPI document says.

docs/service.md has the command for thousands of examples.
"""

import os
import subprocess
import sys
from pathlib import Path

import pytest
from helpers_service import client_of

pytestmark = pytest.mark.slow
TOKEN = "0123456789abcdef"
CHECKS = (
    "not_a_server_error",
    "use_after_free",
    "ensure_resource_availability",
    "ignored_auth",
    "response_schema_conformance",
    "status_code_conformance",
    "content_type_conformance",
    "unsupported_method",
)


def test_the_service_keeps_its_description(tmp_path):
    program = Path(sys.executable).with_name("schemathesis")
    with client_of(tmp_path / "tasks", token=TOKEN) as client:
        command = [str(program), "run", f"{client.base_url}/openapi.json"]
        flags = ["--phases", "fuzzing,stateful", "-n", "4", "--generation-deterministic"]
        finished = subprocess.run(
            [*command, *flags, "-H", f"Authorization: Bearer {TOKEN}", "-c", ",".join(CHECKS)],
            cwd=tmp_path,
            env=os.environ
            | {
                "SCHEMATHESIS_HOOKS": "helpers_schema",
                "PYTHONPATH": str(Path(__file__).parents[1]),
            },
            capture_output=True,
            text=True,
            check=False,
        )
        made = client.get("/metrics", headers={"Authorization": f"Bearer {TOKEN}"}).text
    assert finished.returncode == 0, finished.stdout
    assert 'samovar_requests_total{method="POST",route="/v1/tasks",status="201"}' in made
