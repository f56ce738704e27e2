"""`samovar predict` answers as table, JSON, CSV and picture, and names unreadable images."""

import csv
import io
import json
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from helpers_encoders import tiny_model, write_tiny
from helpers_images import drawn, make_folder
from helpers_photos import draw_photos, small_regression
from PIL import Image

from samovar.cli.main import main
from samovar.encoders.encoder_facts import open_encoder


def test_the_shipped_model_tells_characters_apart_and_table_csv_and_picture_agree(
    task, tmp_path, capsys
):
    make_folder(tmp_path / "new", {"one": 100, "two": 101, "three": 102}, 5, first=4)
    files = [str(path) for path in sorted((tmp_path / "new").glob("*/*"))]
    capsys.readouterr()
    assert main(["predict", str(task), *files, "--json", "--out", str(tmp_path / "out")]) == 0
    printed = capsys.readouterr().out
    rows = json.loads(printed)
    assert json.loads((tmp_path / "out" / "predictions.json").read_text()) == rows
    assert np.mean([row["best"] == Path(row["image"]).parent.name for row in rows]) > 0.8
    assert all(
        row["label"] == ("none of these" if row["rejected"] else row["best"]) for row in rows
    )
    assert main(["predict", str(task), *files, "--csv"]) == 0
    table = list(csv.DictReader(io.StringIO(capsys.readouterr().out)))
    assert [line["label"] for line in table] == [row["label"] for row in rows]
    assert main(["predict", str(task), *files, "--picture", str(tmp_path / "answers.png")]) == 0
    assert "█" in capsys.readouterr().out
    with Image.open(tmp_path / "answers.png") as picture:
        assert picture.size[0] > 100


def test_class_folders_are_searched_and_other_folders_inside_if_asked(task, tmp_path, capsys):
    make_folder(tmp_path / "new", {"one": 1, "two": 2}, 2)
    capsys.readouterr()
    assert main(["predict", str(task), str(tmp_path / "new"), "--json"]) == 0
    assert len(json.loads(capsys.readouterr().out)) == 4
    shutil.copy(tmp_path / "new" / "one" / "0.png", tmp_path / "new" / "loose.png")
    assert main(["predict", str(task), str(tmp_path / "new"), "--json"]) == 0
    captured = capsys.readouterr()
    assert [Path(row["image"]).name for row in json.loads(captured.out)] == ["loose.png"]
    assert "2 folders inside were not searched: add --recursive" in captured.err
    assert main(["predict", str(task), str(tmp_path / "new"), "--json", "--recursive"]) == 0
    assert len(json.loads(capsys.readouterr().out)) == 5


def test_zips_lists_and_standard_input_name_images(task, tmp_path, monkeypatch, capsys):
    folder = make_folder(tmp_path / "new", {"one": 100}, 3)
    paths = [str(path) for path in sorted(folder.rglob("*.png"))]
    (tmp_path / "list.txt").write_text("\n".join(paths))
    shutil.make_archive(str(tmp_path / "new"), "zip", tmp_path, "new")
    monkeypatch.setattr("sys.stdin", io.StringIO("\n".join(paths)))
    capsys.readouterr()
    answers = []
    for place in (str(folder), str(tmp_path / "list.txt"), str(tmp_path / "new.zip"), "-"):
        assert main(["predict", str(task), place, "--json"]) == 0
        rows = json.loads(capsys.readouterr().out)
        assert [Path(row["image"]).name for row in rows] == ["0.png", "1.png", "2.png"]
        answers.append([row["probabilities"] for row in rows])
    assert answers[0] == answers[1] == answers[2] == answers[3]


def test_a_line_for_each_image_fits_into_80_columns(tmp_path, monkeypatch, capsys):
    monkeypatch.setenv("COLUMNS", "80")
    long = "a class with a name that is far too long for one line of a table"
    make_folder(tmp_path / "support", {long: 100, f"{long} as well": 101, "two": 102}, 2)
    path = tmp_path / "t.safetensors"
    flags = ["--model", "glyphs", "--support", str(tmp_path / "support"), "--task", str(path)]
    assert main(["fit", *flags]) == 0
    queries = make_folder(tmp_path / ("folder" * 9), {f"{long} x": 100, "two": 102}, 3, first=3)
    capsys.readouterr()
    for flags in ([], ["--explain"]):
        assert main(["predict", str(path), str(queries), *flags]) == 0
        lines = capsys.readouterr().out.splitlines()
        assert max(len(line) for line in lines) <= 80
        assert len([line for line in lines if ".png" in line]) == 6
        assert not any("folderfolder" in line for line in lines), "without the common folder"


def test_the_footer_is_plain_and_the_rest_is_for_those_who_ask(task, tmp_path, capsys):
    make_folder(tmp_path / "new", {"one": 100, "four": 111}, 2)
    capsys.readouterr()
    assert main(["predict", str(task), str(tmp_path / "new")]) == 0
    printed = capsys.readouterr().out
    assert "2 of 4 images are none of these." in printed
    assert "nats" not in printed
    assert main(["predict", str(task), str(tmp_path / "new"), "--explain"]) == 0
    explained = " ".join(capsys.readouterr().out.split())
    assert "images with a distance above" in explained
    assert "in nats" in explained


def test_if_nothing_can_be_read_there_is_no_empty_table(task, tmp_path, capsys):
    (tmp_path / "broken.png").write_bytes(b"")
    capsys.readouterr()
    assert main(["predict", str(task), str(tmp_path / "broken.png")]) == 1
    captured = capsys.readouterr()
    assert captured.out == ""
    assert "broken.png" in captured.err


def test_swapped_arguments_are_recognised(task, tmp_path, capsys):
    image = tmp_path / "support" / "one" / "0.png"
    capsys.readouterr()
    assert main(["predict", str(image), str(task)]) == 2
    complaint = capsys.readouterr().err
    assert "0.png is an image, not a task file. The task comes first" in complaint
    assert f"Did you mean {task} as the task?" in complaint


def test_a_class_in_any_script_is_drawn_without_warnings(tmp_path):
    """Warnings are errors here."""
    make_folder(tmp_path / "support", {"薔薇": 100, "Καφές": 101, "été 🐱": 102}, 2)
    path = tmp_path / "t.safetensors"
    flags = ["--model", "glyphs", "--support", str(tmp_path / "support"), "--task", str(path)]
    assert main(["fit", *flags]) == 0
    picture = tmp_path / "p.png"
    assert main(["predict", str(path), str(tmp_path / "support"), "--picture", str(picture)]) == 0
    assert drawn(picture.read_bytes()).shape[1] > 1000


def test_another_seed_draws_other_classifiers(task, tmp_path, capsys):
    make_folder(tmp_path / "new", {"one": 1}, 1)
    found = []
    for flags in ([], ["--seed", "0"], ["--seed", "1"]):
        assert main(["predict", str(task), str(tmp_path / "new" / "one"), "--json", *flags]) == 0
        found.append(json.loads(capsys.readouterr().out))
    assert found[0] == found[1] != found[2]


def test_broken_images_are_named_and_skipped(task, tmp_path, capsys):
    good = tmp_path / "support" / "one" / "0.png"
    (tmp_path / "empty.png").write_bytes(b"")
    (tmp_path / "text.jpg").write_text("not an image")
    bomb = io.BytesIO()
    Image.new("1", (30_000, 30_000)).save(bomb, "PNG")
    (tmp_path / "bomb.png").write_bytes(bomb.getvalue())
    bad = [str(tmp_path / name) for name in ("empty.png", "text.jpg", "bomb.png", "missing.png")]
    capsys.readouterr()
    assert main(["predict", str(task), bad[0], str(good), *bad[1:], "--json"]) == 1
    captured = capsys.readouterr()
    rows = json.loads(captured.out)
    assert [row["image"] for row in rows] == [bad[0], str(good), *bad[1:]]
    assert "error" not in rows[1]
    for row in (rows[0], *rows[2:]):
        assert set(row) == {"image", "error"}
        assert row["error"]
    for name in bad:
        assert name in captured.err
    shutil.copy(tmp_path / "empty.png", tmp_path / "support" / "two" / "broken.png")
    assert (
        main(
            [
                "fit",
                "--model",
                "glyphs",
                "--support",
                str(tmp_path / "support"),
                "--task",
                str(tmp_path / "u.safetensors"),
            ]
        )
        == 1
    )
    assert "broken.png" in capsys.readouterr().err
    assert (tmp_path / "u.safetensors").exists()


def test_with_one_class_the_question_is_whether_it_belongs(tmp_path, capsys):
    make_folder(tmp_path / "support", {"one": 100}, 3)
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
            ]
        )
        == 0
    )
    printed = " ".join(capsys.readouterr().out.split())
    assert "leave-one-out on 3 support images: 0% rejected" in printed
    assert "right" not in printed, "with one class every answer is"
    make_folder(tmp_path / "new", {"one": 100, "two": 111}, 2)
    assert (
        main(
            [
                "predict",
                str(path),
                str(tmp_path / "new" / "one"),
                str(tmp_path / "new" / "two"),
                "--json",
            ]
        )
        == 0
    )
    rows = json.loads(capsys.readouterr().out)
    assert [row["label"] for row in rows] == ["one", "one", "none of these", "none of these"]
    assert max(row["distance"] for row in rows[:2]) < min(row["distance"] for row in rows[2:])


def test_names_with_newlines_and_markup_come_out_harmless(tmp_path, capsys):
    names = {"[bold]x": 1, "a\nb": 2, "$x^2$": 3, "\x1b[31mred": 4}
    make_folder(tmp_path / "s", names, 2)
    path = tmp_path / "t.safetensors"
    assert (
        main(["fit", "--model", "glyphs", "--support", str(tmp_path / "s"), "--task", str(path)])
        == 0
    )
    assert (
        main(
            [
                "predict",
                str(path),
                str(tmp_path / "s" / "a\nb"),
                "--picture",
                str(tmp_path / "p.png"),
            ]
        )
        == 0
    )
    out = capsys.readouterr().out
    assert "\x1b[31mred" not in out
    assert "[bold]x" in out
    assert main(["predict", str(path), str(tmp_path / "s" / "a\nb"), "--json"]) == 0
    assert set(json.loads(capsys.readouterr().out)[0]["probabilities"]) == set(names)


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("predict", "nowhere.safetensors", "x.png"), "There is no task file nowhere.safetensors"),
        (("predict", "t.safetensors", "x.png", "--json", "--csv"), "one of --json and --csv"),
        (
            ("predict", "t.safetensors", "x.png", "--picture", "p.jpg"),
            "must end with .png, but is 'p.jpg'",
        ),
        (("predict", "t.safetensors", "x.png", "--picture", "."), "must end with .png, but is '.'"),
    ],
)
def test_mistakes_are_explained(arguments, words, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    assert main(list(arguments)) == 2
    assert words in capsys.readouterr().err


@pytest.fixture
def photo_task(tmp_path):
    """A task of the closed form on an ONNX file, which has moved since; and the file."""
    draw_photos(tmp_path / "support", {"disc": 3, "bars": 3}, side=40)
    small_regression().save_pretrained(tmp_path / "model")
    file = write_tiny(tmp_path / "tiny.onnx")
    path = tmp_path / "photos.safetensors"
    flags = ["--support", str(tmp_path / "support"), "--model", str(tmp_path / "model")]
    assert main(["fit", *flags, "--task", str(path), "--encoder", str(file), "--no-cache"]) == 0
    open_encoder.cache_clear()  # as in a new process
    return path, file.rename(tmp_path / "moved.onnx")


def test_an_encoder_that_has_moved_is_named_with_the_remedy(photo_task, tmp_path, capsys):
    path, moved = photo_task
    photo = str(tmp_path / "support" / "disc" / "0.jpg")
    capsys.readouterr()
    assert main(["predict", str(path), photo]) == 2
    complaint = capsys.readouterr().err
    assert "tiny.onnx" in complaint
    assert "--encoder FILE.onnx" in complaint
    assert main(["predict", str(path), photo, "--json", "--encoder", str(moved)]) == 0
    assert json.loads(capsys.readouterr().out)[0]["best"] == "disc"
    model = tiny_model()
    model.producer_name = "altered"
    moved.write_bytes(model.SerializeToString())
    assert main(["predict", str(path), photo, "--encoder", str(moved)]) == 2
    assert "moved.onnx is not the encoder" in capsys.readouterr().err


def test_answers_from_the_cache_are_the_same(photo_task, tmp_path, cache_folder, capsys):
    path, moved = photo_task
    command = ["predict", str(path), str(tmp_path / "support" / "disc"), "--json"]
    command += ["--encoder", str(moved)]
    capsys.readouterr()
    answers = []
    for flags in (["--no-cache"], [], []):
        assert main([*command, *flags]) == 0
        captured = capsys.readouterr()
        answers.append(captured.out)
        assert captured.err == ""
        assert (cache_folder / "vectors.sqlite").exists() == (not flags)
    assert answers[0] == answers[1] == answers[2]


@pytest.mark.slow
def test_what_is_not_there_is_said_before_torch_is_loaded_and_little_else_is(task):
    """In a process of its own, since this one has loaded everything."""
    script = """
import sys
from pathlib import Path
from samovar.cli.main import main
task = sys.argv[1]
assert main(["predict", "nowhere.safetensors", task]) == 2
assert main(["predict", task, "nowhere.jpg"]) == 2
Path("empty").mkdir()
assert main(["predict", task, "empty"]) == 2
assert "torch" not in sys.modules
image = next(Path("one").iterdir())
assert main(["predict", task, str(image)]) == 0
slow = {"lightning_fabric", "sklearn", "matplotlib", "scipy"} & set(sys.modules)
assert not slow, slow
"""
    command = [sys.executable, "-c", script, str(task)]
    finished = subprocess.run(
        command, capture_output=True, text=True, check=False, cwd=task.parent / "support"
    )
    assert finished.returncode == 0, finished.stderr
    for words in ("no task file nowhere", "no file or folder nowhere.jpg", "no images to label"):
        assert words in finished.stderr
