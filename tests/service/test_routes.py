"""Tasks are resources: made, read, grown, asked, taken out of, and deleted over HTTP."""

import io
import struct
import zipfile
import zlib

import pytest
from helpers_service import examples, labels_of, new_task, parts, problem

import samovar
from samovar.classifier.task_file import read_task


@pytest.fixture(scope="module")
def task(client, photos):
    return new_task(client, photos)


def test_a_new_task_tells_its_classes_and_leave_one_out(client, task):
    assert [(entry["name"], entry["examples"]) for entry in task["classes"]] == [
        ("bars", 3),
        ("checks", 3),
        ("disc", 3),
    ]
    assert task["leave_one_out"]["images"] == 9
    assert 0 <= task["leave_one_out"]["accuracy"] <= 1
    assert task["added"] == 9
    assert task["model"] == "photos"
    assert task["reject"] == 0.05
    again = client.get(f"/v1/tasks/{task['id']}").json()
    assert again.items() <= task.items()
    assert task["id"] in [entry["id"] for entry in client.get("/v1/tasks").json()]


def test_the_place_of_a_new_task_is_told(client, photos):
    answer = client.post("/v1/tasks", **examples(photos, 1))
    assert answer.headers["location"] == f"/v1/tasks/{answer.json()['id']}"


def test_answers_are_those_of_the_classifier(client, task, photos):
    asked = [photos["bars"][5], photos["disc"][6]]
    answers = client.post(f"/v1/tasks/{task['id']}/predict", files=parts(asked)).json()["answers"]
    support = [path for paths in photos.values() for path in paths[:3]]
    classifier = samovar.FewShotClassifier(reject=0.05)
    classifier.fit(support, [path.parent.name for path in support])
    expected = classifier.answer(asked)
    for row, answer in enumerate(answers):
        probabilities = dict(
            zip(classifier.classes_.tolist(), expected.probabilities[row].tolist(), strict=True)
        )
        assert answer["probabilities"] == pytest.approx(probabilities)
        assert sum(answer["probabilities"].values()) == pytest.approx(1)
        assert answer["label"] == expected.labels[row]
        assert answer["rejected"] == expected.rejected[row]
        assert answer["distance"] == pytest.approx(expected.distance[row])
        assert answer["entropy"] == pytest.approx(expected.uncertainty.entropy[row])
        information = expected.uncertainty.mutual_information
        assert answer["mutual_information"] == pytest.approx(information[row])
        assert set(answer["spread"]) == {"bars", "checks", "disc"}
        assert answer["position"] == row


def test_bad_files_are_named_and_the_rest_goes_on(client, task, photos):
    files = [
        *parts(photos["bars"][5:6]),
        ("files", ("notes.txt", b"no image", "text/plain")),
        ("files", ("cut.jpg", photos["bars"][5].read_bytes()[:200], "image/jpeg")),
    ]
    result = client.post(f"/v1/tasks/{task['id']}/predict", files=files).json()
    assert len(result["answers"]) == 1
    assert [file["name"] for file in result["skipped"]] == ["notes.txt", "cut.jpg"]


def pixel_bomb() -> bytes:
    """A PNG file of a few bytes that claims 60,000 x 60,000 pixels."""
    header = struct.pack(">IIBBBBB", 60_000, 60_000, 8, 2, 0, 0, 0)
    content = b"\x89PNG\r\n\x1a\n"
    for chunk in (b"IHDR" + header, b"IDAT" + zlib.compress(bytes(100)), b"IEND"):
        content += struct.pack(">I", len(chunk) - 4) + chunk + struct.pack(">I", zlib.crc32(chunk))
    return content


def test_formats_and_sizes_that_are_not_allowed_never_reach_a_decoder(client, task):
    picture = b'<svg xmlns="http://www.w3.org/2000/svg"><script>alert(1)</script></svg>'
    for name, content, reason in (
        ("bomb.png", pixel_bomb(), "too many pixels"),
        ("picture.svg", picture, "its format is not one of"),
        ("document.pdf", b"%PDF-1.4", "its format is not one of"),
        ("script.eps", b"%!PS-Adobe-3.0 EPSF-3.0\n", "its format is not one of"),
        ("empty.jpg", b"", "is not an image"),
        ("../../etc/passwd", b"root", "is not an image"),
    ):
        files = [("files", (name, content, "image/jpeg"))]
        detail = problem(client.post(f"/v1/tasks/{task['id']}/predict", files=files), 422)
        assert reason in detail


def test_growing_is_the_same_as_fitting_everything_at_once(client, photos):
    whole = new_task(client, photos, 4)
    begun = client.post("/v1/tasks", **examples({"bars": photos["bars"]}, 4)).json()
    for kind in ("checks", "disc"):
        more = {"files": parts(photos[kind][:4]), "data": {"labels": [kind]}}
        grown = client.post(f"/v1/tasks/{begun['id']}/examples", **more)
        assert grown.status_code == 200
    asked = parts([photos["disc"][7], photos["checks"][7]])
    both = []
    for task in (whole, begun):
        answers = client.post(f"/v1/tasks/{task['id']}/predict", files=asked).json()["answers"]
        both.append([answer["probabilities"] for answer in answers])
    for first, second in zip(*both, strict=True):
        assert first == pytest.approx(second, abs=1e-6)


def test_a_deleted_example_leaves_no_trace_in_the_answers(client, photos):
    three = new_task(client, photos, 3)
    four = new_task(client, photos, 4)
    added = {example["id"] for example in four["examples"]}
    for example in added - {example["id"] for example in three["examples"]}:
        answer = client.delete(f"/v1/tasks/{four['id']}/examples/{example}")
        assert answer.status_code == 200
    asked = parts(photos["disc"][5:8])
    both = [
        client.post(f"/v1/tasks/{task['id']}/predict", files=asked).json() for task in (three, four)
    ]
    for first, second in zip(*(result["answers"] for result in both), strict=True):
        assert first["probabilities"] == pytest.approx(second["probabilities"], abs=1e-6)


def test_a_class_is_deleted_with_its_examples_and_pictures(client, photos):
    task = new_task(client, photos, 2)
    first = task["classes"][0]
    gone = next(entry for entry in task["examples"] if entry["label"] == first["name"])
    left = client.delete(f"/v1/tasks/{task['id']}/classes/{first['id']}").json()
    assert [entry["name"] for entry in left["classes"]] == ["checks", "disc"]
    path = f"/v1/tasks/{task['id']}/examples/{gone['id']}"
    problem(client.get(f"{path}/thumbnail"), 404)
    problem(client.delete(path), 404)
    problem(client.delete(f"/v1/tasks/{task['id']}/classes/{first['id']}"), 404)
    stored = client.app.state.service.tasks.pictures(task["id"]).digests()
    assert len(stored) == 4


def test_the_last_example_cannot_be_deleted(client, photos):
    task = client.post("/v1/tasks", **examples({"bars": photos["bars"]}, 1)).json()
    example = task["examples"][0]["id"]
    detail = problem(client.delete(f"/v1/tasks/{task['id']}/examples/{example}"), 409)
    assert "Delete the task instead" in detail


def test_what_is_deleted_is_gone(client, photos):
    task = new_task(client, photos, 1)
    path = f"/v1/tasks/{task['id']}"
    assert client.delete(path).status_code == 204
    for answer in (
        client.get(path),
        client.delete(path),
        client.get(f"{path}/file"),
        client.get(f"{path}/map"),
        client.post(f"{path}/predict", files=parts(photos["bars"][:1])),
        client.post(f"{path}/examples", **examples(photos, 1)),
    ):
        assert "There is no task" in problem(answer, 404)


def test_the_task_file_is_one_that_the_command_line_takes(client, task, photos, tmp_path):
    answer = client.get(f"/v1/tasks/{task['id']}/file")
    assert f'filename="samovar-{task["id"]}.safetensors"' in answer.headers["content-disposition"]
    path = tmp_path / "t.safetensors"
    path.write_bytes(answer.content)
    _, info = read_task(path)
    assert info.support is not None
    classifier = samovar.FewShotClassifier.load(path)
    asked = photos["disc"][5:7]
    served = client.post(f"/v1/tasks/{task['id']}/predict", files=parts(asked)).json()
    assert classifier.predict(asked).tolist() == labels_of(served)


def test_a_task_file_becomes_a_task_again(client, task, photos):
    content = client.get(f"/v1/tasks/{task['id']}/file").content
    made = client.post("/v1/tasks", files={"task": ("t.safetensors", content)})
    assert made.status_code == 201
    copy = made.json()
    assert copy["classes"] == task["classes"]
    assert copy["leave_one_out"] == task["leave_one_out"]
    assert not any(example["thumbnail"] for example in copy["examples"])
    asked = parts(photos["disc"][5:7])
    both = [
        client.post(f"/v1/tasks/{each['id']}/predict", files=asked).json() for each in (task, copy)
    ]
    assert both[0] == both[1]


def test_an_archive_of_class_folders_becomes_a_task(client, photos):
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        for kind in ("bars", "disc"):
            for path in photos[kind][:2]:
                archive.write(path, f"mine/{kind}/{path.name}")
        archive.writestr("mine/disc/broken.jpg", b"not an image")
    made = client.post("/v1/tasks", files={"archive": ("mine.zip", buffer.getvalue())}).json()
    assert [(entry["name"], entry["examples"]) for entry in made["classes"]] == [
        ("bars", 2),
        ("disc", 2),
    ]
    assert [file["name"] for file in made["skipped"]] == ["mine/disc/broken.jpg"]
    assert "samovar-" not in made["skipped"][0]["reason"], "the name of our temporary file"


def test_copies_are_used_once_and_contradictions_named(client, photos):
    twice = [*photos["bars"][:1], *photos["bars"][:1], *photos["disc"][:1], *photos["bars"][:1]]
    data = {"labels": ["bars", "bars", "disc", "disc"]}
    task = client.post("/v1/tasks", files=parts(twice), data=data).json()
    assert [entry["examples"] for entry in task["classes"]] == [1, 2]
    assert any("contradiction" in note for note in task["notes"])
    more = {"files": parts(photos["bars"][:1]), "data": {"labels": ["bars"]}}
    again = client.post(f"/v1/tasks/{task['id']}/examples", **more).json()
    assert again["added"] == 0
    assert "the task has the same already" in again["notes"][0]


def test_the_next_image_is_one_of_those_that_were_sent(client, task, photos):
    heap = [*photos["bars"][4:8], *photos["disc"][4:8]]
    path = f"/v1/tasks/{task['id']}/next"
    chosen = client.post(path, files=parts(heap), data={"count": "3"}).json()["answers"]
    assert len({answer["position"] for answer in chosen}) == 3
    for answer in chosen:
        assert answer["name"] == heap[answer["position"]].name
    first = client.post(path, files=parts(heap)).json()["answers"]
    assert [answer["position"] for answer in first] == [chosen[0]["position"]]
    for count in ("0", "x", "-1", "1e3", "²"):
        problem(client.post(path, files=parts(heap[:1]), data={"count": count}), 422)


def test_the_map_has_a_point_for_each_example_and_marks_wrong_labels(client, photos):
    form = examples(photos, 3)
    form["files"] += parts(photos["disc"][5:6])
    form["data"]["labels"].append("bars")
    task = client.post("/v1/tasks", **form).json()
    drawn = client.get(f"/v1/tasks/{task['id']}/map").json()
    assert {point["example"] for point in drawn["points"]} == {e["id"] for e in task["examples"]}
    assert all(-1 <= point["x"] <= 1 and -1 <= point["y"] <= 1 for point in drawn["points"])
    assert 0 < drawn["explained"] <= 1
    answered = {e["id"]: e["answered"] for e in task["examples"]}
    assert {point["example"]: point["answered"] for point in drawn["points"]} == answered
    wrong = next(e for e in task["examples"] if e["label"] == "bars" and e["name"] == "5.jpg")
    assert wrong["answered"] == "disc"


def test_thumbnails_are_small_and_originals_are_not_kept(client, task, photos):
    example = task["examples"][0]
    path = f"/v1/tasks/{task['id']}/examples/{example['id']}"
    picture = client.get(f"{path}/thumbnail")
    assert picture.headers["content-type"] == "image/jpeg"
    assert "was not kept" in problem(client.get(f"{path}/image"), 404)
    assert not task["keeps_images"]


@pytest.mark.parametrize("model", ["glyphs", "cifar_fs"])
def test_models_of_small_images_can_be_taught_and_asked(client, photos, model):
    form = examples(photos, 2)
    form["data"]["model"] = model
    task = client.post("/v1/tasks", **form).json()
    assert task["model"] == model
    path = f"/v1/tasks/{task['id']}"
    assert client.post(f"{path}/predict", files=parts(photos["bars"][5:6])).status_code == 200
    grown = client.post(f"{path}/examples", files=parts(photos["bars"][5:6]), data={"labels": "b"})
    assert grown.json()["added"] == 1
    example = task["examples"][0]["id"]
    assert "only sums" in problem(client.delete(f"{path}/examples/{example}"), 409)
    assert "only sums" in problem(client.get(f"{path}/map"), 409)


@pytest.mark.parametrize(
    ("reject", "rate"), [("never", None), ("auto", 0.05), ("0.1", 0.1), ("", 0.05)]
)
def test_reject_is_a_share_auto_or_never(client, photos, reject, rate):
    form = examples(photos, 1)
    form["data"]["reject"] = reject
    assert client.post("/v1/tasks", **form).json()["reject"] == rate


def test_what_makes_no_sense_is_refused_in_a_sentence(client, photos, task):
    one = parts(photos["bars"][:1])
    three = parts(photos["bars"][:3])
    new = "/v1/tasks"
    grow = f"/v1/tasks/{task['id']}/examples"
    archive = [("archive", ("a.zip", b"PK", "application/zip"))]
    task_file = [("task", ("t.safetensors", b"x", "application/octet-stream"))]
    for path, form, word in (
        (new, {"files": one}, "labels"),
        (new, {"files": three, "data": {"labels": ["a", "b"]}}, "3 files and 2 labels"),
        (new, {"files": one, "data": {"labels": [" "]}}, "name of a class"),
        (new, {"files": one, "data": {"labels": ["none of these"]}}, "answer of its own"),
        (new, {"files": one, "data": {"labels": ["a"], "model": "/etc"}}, "no model '/etc'"),
        (new, {"files": one, "data": {"labels": ["a"], "reject": "often"}}, "0.05"),
        (new, {"files": one, "data": {"labels": ["a"], "reject": "7"}}, "reject must be"),
        (new, {"files": one, "data": {"label": ["a"]}}, "no field 'label'"),
        (new, {"files": one, "data": {"labels": "a", "archive": "x"}}, "must be a file"),
        (new, {"files": [("labels", ("x", b"a"))]}, "must be a text"),
        (new, {"files": [*one, *archive]}, "Send either an archive"),
        (new, {"files": archive}, "damaged"),
        (new, {"files": task_file}, "not a task file"),
        (new, {"files": [*one, *task_file]}, "sent alone"),
        (grow, {"files": one, "data": {"labels": "a", "model": "photos"}}, "no field 'model'"),
    ):
        assert word in problem(client.post(path, **form), 422)
