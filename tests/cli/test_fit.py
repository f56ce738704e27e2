"""`samovar fit` writes a whole task from a user's own images or says why not."""

import json
import shutil

import numpy as np
import pytest
import torch
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
                "--overwrite",
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
                "--overwrite",
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
                "--overwrite",
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
                "--overwrite",
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
    assert main(["fit", *flags, "--overwrite", "--reject", "0.05"]) == 2
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
            ("fit", "--support", "s", "--task", "t.safetensors", "--reject", "5%"),
            "Write --reject 0.05",
        ),
        (
            ("fit", "--support", "s", "--task", "t.safetensors", "--model", "cifar-fs"),
            "Did you mean cifar_fs?",
        ),
        (("fit", "--support", "s", "--task", "t.safetensors", "--add"), "to add to"),
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
    assert main(["fit", *photos, "--overwrite"]) == 0
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
    grow = ["fit", *photos[:4], "--add"]  # the task knows its model
    assert main(grow) == 2
    assert "--encoder FILE.onnx" in capsys.readouterr().err
    assert main([*grow, "--encoder", str(moved)]) == 0
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


@pytest.fixture
def messy(tmp_path):
    """Class folders as people have them: nested, with copies, contradictions and other files."""
    root = draw_photos(tmp_path / "messy", {"disc": 3, "bars": 3}, side=40)
    draw_photos(tmp_path / "more", {"disc": 1}, first=7, side=40)
    (root / "disc" / "garden" / "May").mkdir(parents=True)
    (tmp_path / "more" / "disc" / "7.jpg").rename(root / "disc" / "garden" / "May" / "7.jpg")
    photo = (root / "disc" / "0.jpg").read_bytes()
    (root / "disc" / "copy of 0.jpg").write_bytes(photo)
    (root / "bars" / "wrong.jpg").write_bytes(photo)
    (root / "bars" / "without extension").write_bytes((root / "bars" / "1.jpg").read_bytes())
    (root / "loose.jpg").write_bytes(photo)
    for name in (".DS_Store", "disc/.hidden", "disc/notes.txt", "bars/old.zip"):
        (root / name).write_bytes(b"")
    small_regression().save_pretrained(tmp_path / "model")
    return root


def fit_messy(root, *flags):
    folder = root.parent
    names = ["--support", str(root), "--task", str(folder / "t.safetensors"), "--no-cache"]
    return main(["fit", *names, "--model", str(folder / "model"), *flags])


def test_folders_are_read_to_any_depth_and_what_is_left_out_is_counted(messy, capsys):
    assert fit_messy(messy) == 0
    captured = capsys.readouterr()
    task, info = read_task(messy.parent / "t.safetensors")
    assert dict(zip(task.classes, task.counts.tolist(), strict=True)) == {"bars": 4, "disc": 4}
    assert "disc/garden/May/7.jpg" in info.support.names
    for reason in ("2 hidden files", "1 .zip archive", "1 .txt file", "1 image beside the class"):
        assert reason in captured.err


def test_copies_are_used_once_and_contradictions_are_named(messy, capsys):
    assert fit_messy(messy) == 0
    complaint = capsys.readouterr().err
    assert "2 copies were left out" in complaint
    assert "disc/copy of 0.jpg (as disc/0.jpg)" in complaint
    assert "bars/without extension (as bars/1.jpg)" in complaint
    assert "the same image is in two classes: bars/wrong.jpg and disc/0.jpg" in complaint


def test_images_that_the_others_answer_wrongly_are_named(messy, capsys):
    assert fit_messy(messy) == 0
    fitted = capsys.readouterr().out
    assert "bars/wrong.jpg: bars, answered disc" in fitted
    assert main(["task", str(messy.parent / "t.safetensors")]) == 0
    assert "bars/wrong.jpg: bars, answered disc" in capsys.readouterr().out
    assert main(["task", str(messy.parent / "t.safetensors"), "--json"]) == 0
    wrong = json.loads(capsys.readouterr().out)["leave_one_out"]["wrong"]
    assert {"image": "bars/wrong.jpg", "label": "bars", "answer": "disc"} in wrong


def test_the_same_images_are_not_added_twice(messy, capsys):
    assert fit_messy(messy) == 0
    path = messy.parent / "t.safetensors"
    before = path.read_bytes()
    add = ["fit", "--support", str(messy), "--task", str(path), "--add", "--no-cache"]
    assert main(add) == 2
    assert "are in the task already" in capsys.readouterr().err
    assert path.read_bytes() == before
    draw_photos(messy, {"bars": 1}, first=9, side=40)
    assert main(add) == 0
    captured = capsys.readouterr()
    assert "10 images were left out: the task has the same already." in captured.err
    task, info = read_task(path)
    assert task.counts.tolist() == [5, 4]
    assert info.support.names[-1] == "bars/9.jpg"


def test_an_existing_task_is_neither_lost_nor_changed_by_chance(messy, capsys):
    assert fit_messy(messy) == 0
    path = messy.parent / "t.safetensors"
    before = path.read_bytes()
    capsys.readouterr()
    assert fit_messy(messy) == 2
    complaint = capsys.readouterr().err
    assert "exists already. Use --add" in complaint
    assert "--overwrite" in complaint
    assert path.read_bytes() == before
    assert fit_messy(messy, "--overwrite") == 0


@pytest.mark.parametrize(
    ("flags", "words"),
    [
        (["--reject", "0.2"], "--reject cannot be changed with --add"),
        (["--model", "glyphs"], "--model cannot be changed with --add"),
        (["--samples", "8", "--seed", "1"], "--samples and --seed cannot be changed with --add"),
        (["--overwrite"], "one of --add and --overwrite"),
    ],
)
def test_flags_that_would_be_ignored_are_refused(flags, words, task, tmp_path, capsys):
    before = task.read_bytes()
    support = ["--support", str(tmp_path / "support"), "--task", str(task)]
    assert main(["fit", *support, "--add", *flags]) == 2
    assert words in capsys.readouterr().err
    assert task.read_bytes() == before


def test_zips_and_lists_make_the_same_task_as_the_folder(tmp_path, capsys):
    root = draw_photos(tmp_path / "photos", {"disc": 3, "bars": 2}, side=40)
    small_regression().save_pretrained(tmp_path / "model")
    shutil.make_archive(str(tmp_path / "photos"), "zip", tmp_path, "photos")
    lines = []
    for path in sorted(root.glob("*/*.jpg")):
        lines.append(f"{path.relative_to(tmp_path)}\t{path.parent.name}\n")
    (tmp_path / "photos.txt").write_text("".join(lines))
    vectors = []
    for name in ("photos", "photos.zip", "photos.txt"):
        task = tmp_path / f"{name}.safetensors"
        flags = ["--model", str(tmp_path / "model"), "--task", str(task), "--no-cache"]
        assert main(["fit", "--support", str(tmp_path / name), *flags]) == 0
        fitted, _ = read_task(task)
        assert fitted.classes == ("bars", "disc")
        vectors.append(fitted.vectors)
    assert torch.equal(vectors[0], vectors[1])
    assert torch.equal(vectors[0], vectors[2])


def test_links_are_followed_if_the_user_allows_it(tmp_path, capsys):
    make_folder(tmp_path / "elsewhere", {"one": 100, "two": 101}, 2)
    (tmp_path / "chosen").mkdir()
    for name in ("one", "two"):
        (tmp_path / "chosen" / name).symlink_to(tmp_path / "elsewhere" / name)
    path = tmp_path / "t.safetensors"
    flags = ["--model", "glyphs", "--support", str(tmp_path / "chosen"), "--task", str(path)]
    assert main(["fit", *flags]) == 2
    assert "--follow-links" in capsys.readouterr().err
    assert main(["fit", *flags, "--follow-links"]) == 0
    assert read_task(path)[0].counts.tolist() == [2, 2]


def test_colour_photographs_with_a_model_of_characters_are_warned_about(tmp_path, capsys):
    draw_photos(tmp_path / "photos", {"disc": 2, "bars": 2}, side=40)
    make_folder(tmp_path / "glyphs", {"one": 100, "two": 101}, 2)
    for name, warned in (("photos", True), ("glyphs", False)):
        flags = ["--support", str(tmp_path / name), "--task", str(tmp_path / f"{name}.safetensors")]
        assert main(["fit", "--model", "glyphs", *flags]) == 0
        complaint = capsys.readouterr().err
        assert ("look like colour photographs, but the model glyphs" in complaint) == warned


def test_train_and_test_folders_are_not_taken_for_classes(tmp_path, capsys):
    for split in ("train", "test"):
        make_folder(tmp_path / "all" / split, {"one": 100, "two": 101}, 1)
    flags = ["--model", "glyphs", "--task", str(tmp_path / "t.safetensors")]
    assert main(["fit", "--support", str(tmp_path / "all"), *flags]) == 2
    assert f"such as {tmp_path / 'all' / 'train'}" in capsys.readouterr().err
