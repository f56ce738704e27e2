"""Requests are counted by their route, and a path that is no route adds nothing to the memory."""

import re

from samovar.service.metrics import Metrics


def counted(client, route: str, status: int) -> float:
    text = client.get("/metrics").text
    found = re.search(rf'samovar_requests_total{{.*route="{route}",status="{status}"}} (\S+)', text)
    return float(found[1]) if found else 0.0


def test_requests_are_counted_by_route_and_status(client):
    before = counted(client, "/v1/tasks", 200)
    for _ in range(3):
        client.get("/v1/tasks")
    assert counted(client, "/v1/tasks", 200) == before + 3
    assert (
        'samovar_request_seconds_count{method="GET",route="/v1/tasks"}'
        in client.get("/metrics").text
    )


def test_unknown_paths_and_ids_share_their_counters(client):
    for number in range(5):
        client.get(f"/nothing/{number}")
        client.get(f"/v1/tasks/{number:016x}")
        client.request(f"METHOD{number}", "/healthz")
    text = client.get("/metrics").text
    assert "METHOD" not in text
    assert 'method="other",route="/healthz",status="405"' in text
    assert "nothing" not in text
    assert 'route="none",status="404"' in text
    assert 'route="/v1/tasks/{task}",status="404"' in text


def test_two_applications_do_not_count_for_each_other():
    first, second = Metrics(), Metrics()
    first.refused.inc()
    assert b"samovar_work_refused_total 1.0" in first.text()
    assert b"samovar_work_refused_total 0.0" in second.text()
