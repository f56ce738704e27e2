"""Every response tells browsers to run nothing but our own files, errors included."""

import pytest

from samovar.service.security_headers import HEADERS, POLICY


@pytest.mark.parametrize("path", ["/", "/page/main.js", "/v1/tasks", "/nothing", "/healthz"])
def test_every_response_has_the_headers(client, path):
    headers = client.get(path).headers
    for name, value in HEADERS.items():
        assert headers[name] == value
    assert headers["cache-control"] in ("no-store", "no-cache")


def test_the_policy_allows_no_inline_script_and_no_other_place():
    assert "unsafe" not in POLICY
    assert "http" not in POLICY
    assert "default-src 'none'" in POLICY
    assert "*" not in POLICY
