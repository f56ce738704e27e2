"""`samovar serve` as a process: taught, asked, killed and started again, by several workers."""

import signal
import socket
import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import httpx
import pytest
from helpers_service import (
    ServerProcess,
    client_of,
    examples,
    labels_of,
    new_task,
    parts,
    photographs,
    problem,
)

pytestmark = pytest.mark.slow
TOKEN = "0123456789abcdef"


@pytest.fixture(scope="module")
def photos(tmp_path_factory):
    return photographs(tmp_path_factory.mktemp("photos"))


def teach_until_killed(server: ServerProcess, photos: dict[str, list[Path]]) -> list[str]:
    """Make tasks by two clients, kill the server meanwhile, and return what it acknowledged."""
    acknowledged: list[str] = []
    enough = threading.Event()

    def teach() -> None:
        with httpx.Client(base_url=server.url, timeout=60) as client:
            while True:
                try:
                    acknowledged.append(new_task(client, photos, 1)["id"])
                except httpx.HTTPError:
                    return
                if len(acknowledged) >= 4:
                    enough.set()

    with ThreadPoolExecutor(2) as pool:
        for _ in range(2):
            pool.submit(teach)
        assert enough.wait(60)
        server.kill()
    return acknowledged


def test_several_workers_share_tasks_that_survive_a_kill(tmp_path, photos):
    with ServerProcess(tmp_path, "--workers", "2") as server:
        first = new_task(server.client, photos)
        path = f"/v1/tasks/{first['id']}"
        grown = server.client.post(f"{path}/examples", **examples(photos, 1, first=3)).json()
        for _ in range(8):  # a new connection each time, which any of the workers may take
            with httpx.Client(base_url=server.url, timeout=60) as client:
                assert client.get(path).json()["classes"] == grown["classes"]
        text = server.client.get("/metrics").text
        assert 'route="/v1/tasks/{task}",status="200"} 8.0' in text, "counted over all workers"
        asked = parts(photos["disc"][4:8])
        before = server.client.post(f"{path}/predict", files=asked).json()
        acknowledged = teach_until_killed(server, photos)

    with ServerProcess(tmp_path, SAMOVAR_TOKEN=TOKEN) as server:
        problem(server.client.get("/v1/tasks"), 401)
        server.client.headers["Authorization"] = f"Bearer {TOKEN}"
        there = {task["id"] for task in server.client.get("/v1/tasks").json()}
        assert {first["id"], *acknowledged} <= there
        for task_id in there:  # no task is half there
            task = server.client.get(f"/v1/tasks/{task_id}").json()
            assert all(example["thumbnail"] for example in task["examples"])
        assert server.client.post(f"{path}/predict", files=asked).json() == before
        assert server.stop(signal.SIGINT) == 0


def test_a_client_that_leaves_does_not_stop_the_others(tmp_path, photos):
    with client_of(tmp_path) as client:
        task = new_task(client, photos, 1)
        path = f"/v1/tasks/{task['id']}/predict"
        request = client.build_request("POST", path, files=parts(photos["bars"] * 4))
        head = f"POST {path} HTTP/1.1\r\nHost: localhost\r\n"
        for name in ("Content-Type", "Content-Length"):
            head += f"{name}: {request.headers[name]}\r\n"
        for _ in range(3):
            address = (client.base_url.host, client.base_url.port)
            with socket.create_connection(address, 10) as connection:
                connection.sendall(head.encode() + b"\r\n" + request.read())
        answer = client.post(path, files=parts(photos["disc"][5:6]))
        assert labels_of(answer.json())
        assert "samovar_work_dropped_total 0.0" not in client.get("/metrics").text
