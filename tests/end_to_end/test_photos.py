"""Photographs at real size through the shipped model `photos`, from files to answers."""

import json
import subprocess
import sys
import zipfile
from pathlib import Path

import numpy as np
import pytest
from helpers_photos import draw_photos

from samovar import FewShotClassifier
from samovar.cli.main import main


@pytest.fixture(scope="module")
def photo_task(tmp_path_factory) -> Path:
    """A folder with drawn photographs and the task that `samovar fit` has made of them."""
    folder = tmp_path_factory.mktemp("photos")
    draw_photos(folder / "support", {"disc": 4, "bars": 4})
    draw_photos(folder / "more", {"checks": 4, "disc": 1}, first=4)
    draw_photos(folder / "query", {"disc": 4, "bars": 4, "checks": 4}, first=20)
    task = folder / "t.safetensors"
    assert main(["fit", "--support", str(folder / "support"), "--task", str(task)]) == 0
    return task


def answered(capsys, *arguments: str) -> list[dict]:
    capsys.readouterr()
    assert main(["predict", *arguments, "--json"]) == 0
    return json.loads(capsys.readouterr().out)


def test_fit_needs_no_model_and_the_task_says_what_it_is(photo_task, capsys):
    capsys.readouterr()
    assert main(["task", str(photo_task), "--json"]) == 0
    report = json.loads(capsys.readouterr().out)
    assert report["model"] == "photos"
    assert report["classes"] == {"bars": 4, "disc": 4}
    assert report["parameters"]["reject"] == 0.05
    assert report["leave_one_out"]["images"] == 8
    assert report["bytes"] < 8 * 1280 * 4 + 3000, "vectors and names, no images"


def test_photographs_are_answered_and_the_task_grows(photo_task, tmp_path, capsys):
    root = photo_task.parent
    queries = [str(root / "query" / name) for name in ("bars", "disc")]
    rows = answered(capsys, str(photo_task), *queries)
    assert np.mean([row["best"] == Path(row["image"]).parent.name for row in rows]) > 0.8
    grown = tmp_path / "grown.safetensors"
    grown.write_bytes(photo_task.read_bytes())
    assert main(["fit", "--support", str(root / "more"), "--task", str(grown), "--add"]) == 0
    rows = answered(capsys, str(grown), *queries, str(root / "query" / "checks"))
    assert set(rows[0]["probabilities"]) == {"bars", "checks", "disc"}
    assert np.mean([row["best"] == Path(row["image"]).parent.name for row in rows]) > 0.7
    picture = tmp_path / "answers.png"
    assert main(["predict", str(grown), *queries, "--picture", str(picture), "--explain"]) == 0
    assert "log variance - 2 x the largest score" in " ".join(capsys.readouterr().out.split())
    assert picture.stat().st_size > 10_000


def test_unreadable_photographs_are_named_and_the_others_answered(photo_task, tmp_path, capsys):
    (tmp_path / "broken.jpg").write_bytes(b"broken")
    good = str(photo_task.parent / "query" / "disc" / "20.jpg")
    capsys.readouterr()
    arguments = ["predict", str(photo_task), str(tmp_path / "broken.jpg"), good, "--json"]
    assert main(arguments) == 1
    captured = capsys.readouterr()
    broken, answered_row = json.loads(captured.out)
    assert broken["image"].endswith("broken.jpg")
    assert "error" in broken
    assert answered_row["image"] == good
    assert "broken.jpg" in captured.err


def test_python_and_the_command_line_agree(photo_task, capsys):
    root = photo_task.parent
    files = [str(path) for path in sorted((root / "query" / "disc").iterdir())]
    rows = answered(capsys, str(photo_task), *files)
    classifier = FewShotClassifier(reject=0.05).fit(root / "support")
    answer = classifier.answer(files)
    expected = [list(row["probabilities"].values()) for row in rows]
    np.testing.assert_allclose(answer.probabilities, expected, atol=1e-6)
    np.testing.assert_allclose(answer.distance, [row["distance"] for row in rows], atol=1e-6)


def test_predicting_photographs_loads_nothing_that_it_does_not_need(photo_task):
    script = """
import sys
from samovar.cli.main import main
assert main(sys.argv[1:]) == 0
heavy = {"sklearn", "matplotlib", "lightning", "lightning_fabric", "scipy"} & set(sys.modules)
assert not heavy, heavy
"""
    photo = photo_task.parent / "query" / "disc" / "20.jpg"
    command = [sys.executable, "-c", script, "predict", str(photo_task), str(photo), "--json"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


def test_groceries_at_real_size(archives, tmp_path):
    """Five-way five-shot on photographs at real size."""
    with zipfile.ZipFile(archives("photos/grocery-photos.zip")) as archive:
        archive.extractall(tmp_path)
    members: dict[str, list[Path]] = {}
    for path in sorted(tmp_path.rglob("*.jpg")):
        members.setdefault(path.parent.name, []).append(path)
    right = []
    noise = np.random.default_rng(0)
    for _ in range(2):
        chosen = noise.choice(sorted(members), 5, replace=False)
        shuffled = {name: noise.permutation(len(members[name])) for name in chosen}
        support = [members[name][i] for name in chosen for i in shuffled[name][:5]]
        queries = [members[name][i] for name in chosen for i in shuffled[name][5:11]]
        classifier = FewShotClassifier().fit(support, [path.parent.name for path in support])
        truths = [path.parent.name for path in queries]
        right.append(classifier.score(queries, truths))
    assert np.mean(right) > 0.85
