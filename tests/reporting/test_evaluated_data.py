"""A file of vectors is data to evaluate on, if its encoder is the model's."""

import json

import numpy as np
import pytest
from helpers import features_model
from helpers_photos import LENGTH, clouds, patch_encoder, small_regression

from samovar.cli.main import main


@pytest.fixture
def vectors(tmp_path):
    """Files of vectors of the patch encoder and of another one, and one without an encoder."""
    features, labels = clouds(classes=6, each=12)
    names = np.array([f"class {label}" for label in labels])
    for name, encoder in (("own", patch_encoder()), ("other", patch_encoder("others"))):
        stored = json.dumps(encoder.to_json())
        np.savez(tmp_path / f"{name}.npz", features=features, labels=names, encoder=stored)
    np.savez(tmp_path / "plain.npz", features=features, labels=names)
    small_regression().save_pretrained(tmp_path / "model")
    return tmp_path


FLAGS = ["--way", "3", "--shot", "2", "--queries", "4", "--outside", "3"]
FLAGS += ["--episodes", "25", "--samples", "20"]


def test_a_regression_is_measured_on_all_classes_of_a_file_of_vectors(vectors, capsys):
    for name in ("own", "plain"):
        command = ["evaluate", str(vectors / "model"), "--data", str(vectors / f"{name}.npz")]
        assert main([*command, *FLAGS, "--out", str(vectors / name)]) == 0
        printed = " ".join(capsys.readouterr().out.split())
        assert f"evaluated-{name} (test, 6 classes)" in printed
        assert "AUROC none of these" in printed
        summary = json.loads((vectors / name / "evaluation.json").read_text())
        assert summary["accuracy"]["mean"] > 0.9
        page = (vectors / name / "report.html").read_text()
        assert "closed form on the vectors of patches" in page
        assert "Distance: log variance" in page


@pytest.mark.parametrize(
    ("flags", "words"),
    [
        (["--data", "other.npz"], "made by the encoder others"),
        ([], "--data FILE.npz"),
        (["--data", "missing.npz"], "missing.npz does not exist"),
        (["--data", "own.npz", "--draw", "1"], "--draw needs images"),
        (["--data", "own.npz", "--sampling-study"], "--sampling-study is for"),
        (["--data", "own.npz", "--way", "9"], "too few classes"),
    ],
)
def test_what_cannot_be_measured_is_explained(vectors, flags, words, monkeypatch, capsys):
    monkeypatch.chdir(vectors)
    assert main(["evaluate", "model", *FLAGS, *flags, "--out", "out"]) == 2
    assert words in capsys.readouterr().err
    assert not (vectors / "out").exists()


def test_a_network_is_measured_on_the_test_classes_of_a_file_as_for_the_training(vectors, capsys):
    folder = features_model(LENGTH).save_pretrained(vectors / "network")
    command = ["evaluate", str(folder), "--data", str(vectors / "plain.npz"), "--way", "2"]
    flags = ["--shot", "1", "--queries", "2", "--episodes", "20", "--samples", "2"]
    assert main([*command, *flags, "--split", "train", "--out", str(vectors / "out")]) == 0
    assert "features-plain (train, 4 classes)" in capsys.readouterr().out
