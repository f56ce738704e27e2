"""`samovar export` writes one ONNX file, and no other program needs samovar to use it."""

import json
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import onnxruntime
import pytest
from helpers_photos import draw_photos

from samovar.cli.main import main

EVERYDAY = Path(__file__).parents[2] / "docs" / "everyday.md"
WITHOUT_SAMOVAR = "import sys\nsys.modules['samovar'] = sys.modules['torch'] = None\n"


@pytest.fixture
def photos_task(tmp_path, capsys) -> Path:
    support = draw_photos(tmp_path / "support", {"disc": 3, "bars": 3})
    assert (
        main(["fit", "--support", str(support), "--task", str(tmp_path / "mine.safetensors")]) == 0
    )
    capsys.readouterr()
    return tmp_path / "mine.safetensors"


def test_the_example_of_the_documentation_answers_as_samovar_does(photos_task, tmp_path, capsys):
    draw_photos(tmp_path, {"disc": 1}, first=9, side=700)
    (tmp_path / "disc" / "9.jpg").rename(tmp_path / "photo.jpg")
    assert main(["export", str(photos_task), "--onnx", str(tmp_path / "mine.onnx")]) == 0
    assert "Largest difference" in capsys.readouterr().out
    assert main(["predict", str(photos_task), str(tmp_path / "photo.jpg"), "--json"]) == 0
    (expected,) = json.loads(capsys.readouterr().out)
    (example,) = re.findall(r"^```py\n(.*?)^```", EVERYDAY.read_text(), re.MULTILINE | re.DOTALL)
    more = "\nprint(json.dumps([probabilities.tolist(), distance.tolist()]))"
    script = WITHOUT_SAMOVAR + example + more
    run = subprocess.run(
        [sys.executable, "-c", script], cwd=tmp_path, capture_output=True, text=True, check=True
    )
    lines = run.stdout.splitlines()
    assert lines[0].startswith(expected["label"])
    probabilities, distance = json.loads(lines[1])
    np.testing.assert_allclose(
        probabilities[0], list(expected["probabilities"].values()), atol=1e-4
    )
    np.testing.assert_allclose(distance[0], expected["distance"], atol=1e-4)


def test_an_existing_file_is_kept_unless_it_may_be_replaced(photos_task, tmp_path, capsys):
    target = tmp_path / "mine.onnx"
    target.write_text("mine")
    flags = ["export", str(photos_task), "--onnx", str(target)]
    assert main(flags) == 2
    assert "--overwrite" in capsys.readouterr().err
    assert target.read_text() == "mine"
    assert main([*flags, "--overwrite", "--json"]) == 0
    report = json.loads(capsys.readouterr().out)
    assert report["bytes"] == target.stat().st_size
    assert report["difference"] < 1e-4
    assert onnxruntime.InferenceSession(target).get_inputs()[0].name == "pixels"


def test_a_small_model_cannot_be_exported(task, tmp_path, capsys):
    capsys.readouterr()
    assert main(["export", str(task), "--onnx", str(tmp_path / "t.onnx")]) == 2
    assert "such as photos" in capsys.readouterr().err
    assert not (tmp_path / "t.onnx").exists()
