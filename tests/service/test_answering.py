"""Answers are given in the order of the request, without the files that cannot be read."""

import pytest
from helpers_service import new_task, parts


def test_positions_are_those_of_the_request(client, photos):
    task = new_task(client, photos)
    files = [
        *parts(photos["disc"][5:6]),
        ("files", ("bad.jpg", b"bad", "image/jpeg")),
        *parts(photos["bars"][6:7]),
    ]
    result = client.post(f"/v1/tasks/{task['id']}/predict", files=files).json()
    assert [(answer["position"], answer["name"]) for answer in result["answers"]] == [
        (0, "5.jpg"),
        (2, "6.jpg"),
    ]


def test_an_answer_does_not_depend_on_the_others(client, photos):
    task = new_task(client, photos)
    path = f"/v1/tasks/{task['id']}/predict"
    together = client.post(path, files=parts(photos["disc"][4:8])).json()["answers"]
    for position, photo in enumerate(photos["disc"][4:8]):
        alone = client.post(path, files=parts([photo])).json()["answers"][0]
        assert alone["label"] == together[position]["label"]
        assert alone["probabilities"] == pytest.approx(together[position]["probabilities"])
        assert alone["distance"] == pytest.approx(together[position]["distance"])


def test_all_probable_classes_of_a_rejected_image_are_told(client, photos):
    form = {"files": parts(photos["bars"][:4]), "data": {"labels": "bars"}}
    task = client.post("/v1/tasks", **form).json()
    path = f"/v1/tasks/{task['id']}/predict"
    answer = client.post(path, files=parts(photos["disc"][:1])).json()["answers"][0]
    assert answer["rejected"]
    assert answer["label"] == "none of these"
    assert answer["best"] == "bars"
    assert answer["probabilities"] == {"bars": 1.0}
