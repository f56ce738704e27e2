"""`samovar fit` writes a whole task from a user's own images or says why not."""

import json

import numpy as np
import pytest
from helpers import features_model, image_model
from helpers_encoders import LENGTH, write_tiny
from helpers_images import make_folder
from helpers_photos import draw_photos, small_regression
from PIL import Image

from samovar.classifier.task_file import read_task
from samovar.cli.main import main
from samovar.encoders.encoder_facts import open_encoder
from samovar.encoders.vector_cache import VectorCache


def test_a_class_that_cannot_be_read_at_all_is_an_error_and_nothing_is_written(
    task, tmp_path, capsys
):
    (tmp_path / "support" / "four").mkdir()
    (tmp_path / "support" / "four" / "x.png").write_bytes(b"broken")
    before = task.read_bytes()
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
            ]
        )
        == 2
    )
    assert "'four'" in capsys.readouterr().err
    assert task.read_bytes() == before


def test_the_reason_is_that_of_the_class_that_is_lost(task, tmp_path, capsys):
    (tmp_path / "support" / "one" / "x.png").write_bytes(b"broken")
    (tmp_path / "support" / "zero").mkdir()
    (tmp_path / "support" / "zero" / "y.png").write_bytes(b"broken")
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
            ]
        )
        == 2
    )
    complaint = capsys.readouterr().err
    assert "'zero' can be read" in complaint
    assert "y.png is not an image that can be read (its format is not one of JPEG" in complaint
    assert "x.png" not in complaint


def test_a_rate_that_cannot_be_had_writes_nothing(tmp_path, capsys):
    make_folder(tmp_path / "support", {"one": 100, "two": 101}, 1)
    path = tmp_path / "t.safetensors"
    assert (
        main(
            [
                "fit",
                "--model",
                "glyphs",
                "--support",
                str(tmp_path / "support"),
                "--task",
                str(path),
                "--reject",
                "2",
            ]
        )
        == 2
    )
    assert "reject must be from" in capsys.readouterr().err
    assert not path.exists()


def test_a_folder_named_like_a_shipped_model_is_no_obstacle(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "glyphs").mkdir()
    make_folder(tmp_path / "support", {"one": 100, "two": 101}, 2)
    assert (
        main(["fit", "--support", "support", "--task", "t.safetensors", "--model", "glyphs"]) == 0
    )
    assert main(["predict", "t.safetensors", "support/one/0.png"]) == 0


def test_links_out_of_the_folder_are_refused(task, tmp_path, capsys):
    (tmp_path / "secret.png").write_bytes((tmp_path / "support" / "one" / "0.png").read_bytes())
    (tmp_path / "support" / "one" / "link.png").symlink_to(tmp_path / "secret.png")
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
            ]
        )
        == 2
    )
    assert "link" in capsys.readouterr().err
    (tmp_path / "support" / "one" / "link.png").unlink()
    make_folder(tmp_path / "elsewhere", {"four": 103}, 2)
    (tmp_path / "support" / "four").symlink_to(tmp_path / "elsewhere" / "four")
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
            ]
        )
        == 2
    )
    assert "is a link to a place outside" in capsys.readouterr().err


def test_thousands_of_classes(tmp_path, capsys):
    # A narrow model: the quasi-random numbers of 2000 classes of the shipped one take 20 seconds.
    model = image_model().save_pretrained(tmp_path / "model")
    small = np.zeros((8, 8), np.uint8)
    for number in range(2000):
        folder = tmp_path / "s" / f"{number:04}"
        folder.mkdir(parents=True)
        small[:] = number % 256
        Image.fromarray(small).save(folder / "x.png")
    path = tmp_path / "t.safetensors"
    flags = ["--model", str(model), "--samples", "16"]
    assert main(["fit", "--support", str(tmp_path / "s"), "--task", str(path), *flags]) == 0
    assert "... and 1950 more" in capsys.readouterr().out
    assert main(["predict", str(path), str(tmp_path / "s" / "0007" / "x.png"), "--json"]) == 0
    assert len(json.loads(capsys.readouterr().out)[0]["probabilities"]) == 2000


@pytest.mark.parametrize(("reject", "rate"), [("auto", 0.05), ("never", None), ("0.2", 0.2)])
def test_the_rate_of_rejection_is_stored_as_asked(reject, rate, tmp_path, capsys):
    make_folder(tmp_path / "support", {"one": 100, "two": 101}, 1)
    path = tmp_path / "t.safetensors"
    flags = ["--support", str(tmp_path / "support"), "--task", str(path), "--reject", reject]
    assert main(["fit", "--model", "glyphs", *flags]) == 0
    assert read_task(path)[1].parameters.reject == rate
    note = capsys.readouterr().out
    assert ("nothing is rejected" in note) == (rate is None)


def test_a_model_without_thresholds_rejects_nothing_unless_asked(tmp_path, capsys):
    make_folder(tmp_path / "support", {"one": 100, "two": 101}, 1)
    model = image_model().save_pretrained(tmp_path / "model")
    path = tmp_path / "t.safetensors"
    flags = ["--support", str(tmp_path / "support"), "--task", str(path), "--model", str(model)]
    assert main(["fit", *flags]) == 0
    assert read_task(path)[1].parameters.reject is None
    assert "this model has no thresholds for rejection." in capsys.readouterr().out
    assert main(["fit", *flags, "--reject", "0.05"]) == 2
    assert "This model has no thresholds for rejection" in capsys.readouterr().err


def test_a_model_of_feature_vectors_is_refused(tmp_path, capsys):
    make_folder(tmp_path / "support", {"one": 100}, 1)
    model = features_model(3).save_pretrained(tmp_path / "model")
    path = tmp_path / "t.safetensors"
    flags = ["--support", str(tmp_path / "support"), "--task", str(path), "--model", str(model)]
    assert main(["fit", *flags]) == 2
    assert "takes feature vectors, not images" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("fit", "--support", "nowhere", "--task", "t.safetensors"), "no folder nowhere"),
        (
            ("fit", "--support", ".", "--task", "t.safetensors", "--model", "unknown"),
            "class folders",
        ),
        (
            ("fit", "--support", "s", "--task", "t.safetensors", "--device", "abacus"),
            "cpu, cuda, mps or auto",
        ),
        (
            ("fit", "--support", "s", "--task", "t.safetensors", "--samples", "9" * 20),
            "from 1 to 10000",
        ),
        (("fit", "--support", "a" * 300, "--task", "t.safetensors"), "File name too long"),
        (("fit", "--support", "s", "--task", "."), "Cannot write"),
        (
            ("fit", "--support", "s", "--task", "t.safetensors", "--reject", "2"),
            "reject must be from",
        ),
    ],
)
def test_mistakes_are_explained(arguments, words, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    if "s" in arguments:
        make_folder(tmp_path / "s", {"one": 1}, 1)
    assert main(list(arguments)) == 2
    assert words in capsys.readouterr().err


@pytest.fixture
def photos(tmp_path):
    """Photographs of two classes, and the model folder of a closed form on a small encoder."""
    draw_photos(tmp_path / "support", {"disc": 3, "bars": 3}, side=40)
    small_regression().save_pretrained(tmp_path / "model")
    return [
        "--support",
        str(tmp_path / "support"),
        "--task",
        str(tmp_path / "t.safetensors"),
        "--model",
        str(tmp_path / "model"),
    ]


def test_vectors_are_kept_unless_the_user_does_not_want_it(photos, cache_folder, capsys):
    assert main(["fit", *photos, "--no-cache"]) == 0
    assert list(cache_folder.iterdir()) == []
    assert main(["fit", *photos]) == 0
    with VectorCache() as cache:
        assert cache.used > 0
    assert "cache" not in capsys.readouterr().err


def test_a_cache_that_cannot_be_used_is_said_once_and_the_task_is_written(
    photos, cache_folder, monkeypatch, tmp_path, capsys
):
    (cache_folder / "file").write_text("in the way")
    monkeypatch.setenv("SAMOVAR_CACHE", str(cache_folder / "file"))
    assert main(["fit", *photos]) == 0
    assert capsys.readouterr().err.count("The cache of vectors") == 1
    assert (tmp_path / "t.safetensors").exists()


def test_another_encoder_is_remembered_and_what_is_not_measured_is_said(photos, tmp_path, capsys):
    file = write_tiny(tmp_path / "tiny.onnx")
    assert main(["fit", *photos, "--encoder", str(file)]) == 0
    printed = " ".join(capsys.readouterr().out.split())
    assert "was trained on vectors of patches" in printed
    assert "not measured for" in printed
    task, info = read_task(tmp_path / "t.safetensors")
    assert info.encoder.name == str(file)
    assert task.vectors.shape == (6, LENGTH)
    draw_photos(tmp_path / "support", {"checks": 2}, side=40)
    moved = file.rename(tmp_path / "moved.onnx")
    open_encoder.cache_clear()  # as in a new process
    assert main(["fit", *photos, "--add"]) == 2
    assert "--encoder FILE.onnx" in capsys.readouterr().err
    assert main(["fit", *photos, "--add", "--encoder", str(moved)]) == 0
    task, info = read_task(tmp_path / "t.safetensors")
    assert task.classes == ("bars", "checks", "disc")
    assert info.encoder.name == str(moved)


@pytest.mark.parametrize(
    ("flags", "words"),
    [
        (["--encoder", "magic"], "There is no encoder 'magic'"),
        (["--preprocessing", "clip"], "name it with --encoder"),
        (["--preprocessing", "clip", "--add"], "leave it out"),
        (["--encoder", "efficientnet_lite0", "--preprocessing", "clip"], "its own preprocessing"),
        (["--encoder", "efficientnet_lite0", "--model", "glyphs"], "by a network of its own"),
    ],
)
def test_impossible_encoders_are_explained(photos, flags, words, tmp_path, capsys):
    assert main(["fit", *photos, *flags]) == 2
    assert words in capsys.readouterr().err
    assert not (tmp_path / "t.safetensors").exists()
