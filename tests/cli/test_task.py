"""`samovar task` shows what is inside a task file, and explains what is not one."""

import json

import numpy as np
import pytest
from helpers_photos import patch_encoder, small_regression

from samovar import FewShotClassifier
from samovar.cli.main import main


def test_the_json_has_everything_but_the_sums(task, capsys):
    capsys.readouterr()
    assert main(["task", str(task), "--json"]) == 0
    report = json.loads(capsys.readouterr().out)
    keys = ["task", "model", "identity", "classes", "parameters", "leave_one_out", "bytes"]
    assert list(report) == keys
    assert report["classes"] == {"one": 4, "three": 4, "two": 4}
    assert report["parameters"] == {
        "samples": 128,
        "reject": 0.05,
        "reject_label": "none of these",
        "seed": 0,
    }
    assert report["leave_one_out"]["images"] == 12
    assert report["bytes"] == task.stat().st_size


def test_the_table_is_that_of_fit(task, tmp_path, capsys):
    assert (
        main(
            [
                "fit",
                "--model",
                "glyphs",
                "--support",
                str(tmp_path / "support"),
                "--task",
                str(task),
                "--overwrite",
            ]
        )
        == 0
    )
    fitted = capsys.readouterr().out
    assert main(["task", str(task)]) == 0
    shown = capsys.readouterr().out
    assert "three" in shown
    assert shown.strip() in fitted


def test_an_encoder_that_the_user_has_named_is_shown(tmp_path, capsys):
    images = np.zeros((2, 20, 20, 3), np.uint8)
    images[1] = 255
    classifier = FewShotClassifier(small_regression(), encoder=patch_encoder("mine"))
    path = classifier.fit(images, ["dark", "bright"]).save(tmp_path / "t.safetensors")
    assert main(["task", str(path), "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["encoder"]["name"] == "mine"
    assert main(["task", str(path)]) == 0
    assert "encoder mine" in " ".join(capsys.readouterr().out.split())


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("task", "nowhere.safetensors"), "not a task file"),
        (("task", "."), "is a folder, not a task file"),
    ],
)
def test_mistakes_are_explained(arguments, words, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    assert main(list(arguments)) == 2
    assert words in capsys.readouterr().err
