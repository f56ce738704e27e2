"""The service keeps its limits, and a damaged task does not hide the others."""

from concurrent.futures import ThreadPoolExecutor

from helpers_service import client_of, examples, new_task, parts, problem

from samovar.service.settings import Limits


def test_a_task_has_a_most_of_examples(tmp_path, photos):
    with client_of(tmp_path, limits=Limits(examples=4)) as client:
        detail = problem(client.post("/v1/tasks", **examples(photos, 2)), 413)
        assert "may have 4 examples" in detail
        task = new_task(client, photos, 1)
        more = client.post(f"/v1/tasks/{task['id']}/examples", **examples(photos, 1, first=1))
        assert "would have 6" in problem(more, 413)
        assert client.get(f"/v1/tasks/{task['id']}").json()["classes"] == task["classes"]


def test_a_damaged_task_is_left_out_of_the_list(client, photos):
    task = new_task(client, photos, 1)
    sound = new_task(client, photos, 1)
    client.app.state.service.tasks.path(task["id"]).write_bytes(b"damaged")
    listed = [entry["id"] for entry in client.get("/v1/tasks").json()]
    assert sound["id"] in listed
    assert task["id"] not in listed
    problem(client.get(f"/v1/tasks/{task['id']}"), 409)
    assert client.delete(f"/v1/tasks/{task['id']}").status_code == 204


def test_clients_that_teach_at_the_same_time_lose_nothing(client, photos):
    task = new_task(client, photos, 1)
    path = f"/v1/tasks/{task['id']}"

    def add(photo):
        form = {"files": parts([photo]), "data": {"labels": "bars"}}
        return client.post(f"{path}/examples", **form).json()["added"]

    with ThreadPoolExecutor(5) as pool:
        added = list(pool.map(add, photos["bars"][1:6]))
    assert added == [1] * 5
    counts = {entry["name"]: entry["examples"] for entry in client.get(path).json()["classes"]}
    assert counts == {"bars": 6, "checks": 1, "disc": 1}


def test_the_list_follows_changes_and_reads_a_task_once(client, photos, monkeypatch):
    task = new_task(client, photos, 1)
    listed = {entry["id"]: entry for entry in client.get("/v1/tasks").json()}
    service = client.app.state.service
    with monkeypatch.context() as patch:
        patch.setattr(service.tasks, "load", None)  # nothing has changed, so nothing is read
        assert {entry["id"]: entry for entry in client.get("/v1/tasks").json()} == listed
    client.post(f"/v1/tasks/{task['id']}/examples", **examples(photos, 1, first=2))
    again = {entry["id"]: entry for entry in client.get("/v1/tasks").json()}
    assert [entry["examples"] for entry in again[task["id"]]["classes"]] == [2, 2, 2]


def test_tasks_come_last_changed_first(client, photos):
    first = new_task(client, photos, 1)
    second = new_task(client, photos, 1)
    client.post(f"/v1/tasks/{first['id']}/examples", **examples(photos, 1, first=2))
    listed = [entry["id"] for entry in client.get("/v1/tasks").json()]
    assert listed.index(first["id"]) < listed.index(second["id"])
