"""A model that was trained on an encoder's vectors answers on images, wherever it goes."""

import json
import shutil
from pathlib import Path

import numpy as np
import pytest
from helpers_encoders import photo_folder, write_tiny
from helpers_photos import draw_photos

from samovar import FewShotClassifier, SavedModel
from samovar.cli.main import main
from samovar.encoders.encoder_facts import open_encoder

QUICK = "--updates 2 --validation.tasks 2 --validation.test-tasks 2"
SMALL = ["--way", "2", "--shot", "1", "--queries", "2", "--episodes", "20", "--samples", "8"]


@pytest.fixture(scope="module")
def trained_folder(tmp_path_factory) -> Path:
    """Vectors of an ONNX file, a run on them, and photographs of other classes."""
    folder = tmp_path_factory.mktemp("features")
    photo_folder(folder / "many", classes=14, images=4)
    draw_photos(folder / "support", {"disc": 4, "bars": 4}, side=40)
    encoder = write_tiny(folder / "tiny.onnx")
    vectors = folder / "many.npz"
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("SAMOVAR_DATA", str(folder / "data"))
        command = ["embed", str(folder / "many"), "--encoder", str(encoder)]
        assert main([*command, "--out", str(vectors), "--no-cache"]) == 0
        command = ["train", "features", "--root", str(vectors), *QUICK.split()]
        assert main([*command, "--out", str(folder / "run")]) == 0
    return folder


@pytest.fixture
def run(trained_folder, tmp_path, monkeypatch) -> Path:
    """A copy of the folder, whose model still knows the original place of the encoder."""
    monkeypatch.setenv("SAMOVAR_DATA", str(trained_folder / "data"))
    open_encoder.cache_clear()  # as in a new process
    return shutil.copytree(trained_folder, tmp_path / "copy")


def fit(run: Path, *flags: str) -> int:
    task = str(run / "t.safetensors")
    command = ["fit", "--model", str(run / "run"), "--support", str(run / "support"), "--overwrite"]
    return main([*command, "--task", task, *flags])


def test_run_and_model_know_the_encoder(trained_folder, run):
    encoder = SavedModel.from_pretrained(run / "run").encoder
    assert encoder.name == str(trained_folder / "tiny.onnx")
    origin = json.loads((run / "run" / "config.json").read_text())["origin"]
    assert origin["encoder of the vectors"] == encoder.identity
    assert "tiny.onnx" in (run / "run" / "model" / "README.md").read_text()


def test_images_are_fitted_and_answered_by_command_and_in_python(run, capsys):
    assert fit(run) == 0
    assert main(["task", str(run / "t.safetensors"), "--json"]) == 0
    photos = [str(path) for path in sorted((run / "support").glob("*/*.jpg"))]
    capsys.readouterr()
    assert main(["predict", str(run / "t.safetensors"), *photos, "--json"]) == 0
    rows = json.loads(capsys.readouterr().out)
    assert len(rows) == 8
    classifier = FewShotClassifier(run / "run").fit(run / "support")
    expected = [list(row["probabilities"].values()) for row in rows]
    np.testing.assert_allclose(classifier.predict_proba(photos), expected, atol=1e-5)
    vectors = classifier.saved_.open_encoder().encode(photos)
    np.testing.assert_allclose(classifier.predict_proba(vectors), expected, atol=1e-5)
    picture = run / "answers.png"
    command = ["predict", str(run / "t.safetensors"), *photos, "--picture", str(picture)]
    assert main(command) == 0
    assert picture.exists()


def test_a_model_folder_carries_the_encoder_on(run):
    saved = SavedModel.from_pretrained(run / "run")
    folder = saved.save_pretrained(run / "elsewhere")
    again = SavedModel.from_pretrained(folder)
    assert again.encoder == saved.encoder
    assert again.identity == saved.identity


def test_an_encoder_that_is_gone_or_altered_is_named_with_the_remedy(trained_folder, run, capsys):
    original = trained_folder / "tiny.onnx"
    hidden = original.rename(original.with_name("hidden.onnx"))
    try:
        assert fit(run) == 2
        complaint = capsys.readouterr().err
        assert str(original) in complaint
        assert "--encoder FILE.onnx" in complaint
        assert fit(run, "--encoder", str(run / "tiny.onnx")) == 0
        photo = str(run / "support" / "disc" / "0.jpg")
        assert main(["predict", str(run / "t.safetensors"), photo]) == 0, "the task knows it"
        altered = (run / "tiny.onnx").read_bytes() + b"\n\x00"
        original.write_bytes(altered)
        capsys.readouterr()
        assert fit(run) == 2
        assert str(original) in capsys.readouterr().err
    finally:
        hidden.replace(original)


def test_the_run_is_evaluated_on_its_vectors_and_the_closed_form_beside_it(run, capsys):
    assert main(["evaluate", str(run / "run"), *SMALL, "--out", str(run / "first")]) == 0
    assert "features-many (test, 3 classes)" in " ".join(capsys.readouterr().out.split())
    file = str(run / "many.npz")
    command = ["evaluate", str(run / "run"), "--data", file, *SMALL]
    assert main([*command, "--out", str(run / "second")]) == 0
    both = [(run / name / "evaluation.json").read_bytes() for name in ("first", "second")]
    assert both[0] == both[1], "the file is the data of the training"
    assert main(["evaluate", "photos", "--data", file, *SMALL, "--out", str(run / "third")]) == 2
    assert "this model takes those of efficientnet_lite0" in capsys.readouterr().err
