"""`samovar calibrate` and `samovar predict --sets` on a task file."""

import csv
import io
import json

import pytest
from helpers_images import drawn, glyph, make_folder

from samovar.cli.main import main


@pytest.fixture
def held_out(tmp_path):
    return make_folder(tmp_path / "held", {"one": 100, "two": 101, "three": 102}, 3, first=10)


@pytest.fixture
def new(tmp_path):
    return make_folder(tmp_path / "new", {"one": 100, "two": 101}, 2, first=20)


def test_sets_in_every_output_by_held_out_images(task, held_out, new, tmp_path, capsys):
    answers = ["predict", str(task), str(new)]
    capsys.readouterr()
    assert main([*answers, "--sets", "0.9", "--json"]) == 0
    before = json.loads(capsys.readouterr().out)
    assert before[0]["set_by"]["method"] == "leave-one-out"
    assert not before[0]["set_by"]["guaranteed"]

    assert main(["calibrate", str(task), str(held_out), "--json"]) == 0
    summary = json.loads(capsys.readouterr().out)
    assert (summary["images"], summary["classes"]["two"]) == (9, 3)
    assert summary["highest_confidence"] == {"all": 0.9, "per_class": 0.75}
    picture = tmp_path / "p.png"
    assert main([*answers, "--sets", "0.9", "--json", "--picture", str(picture)]) == 0
    rows = json.loads(capsys.readouterr().out)
    for row, earlier in zip(rows, before, strict=True):
        assert row["set_by"]["method"] == "split conformal"
        assert row["set_by"]["guaranteed"]
        assert set(row["set"]) <= set(row["probabilities"])
        assert row["probabilities"] == earlier["probabilities"]  # answers stay as they are
    drawn(picture.read_bytes())
    assert main([*answers, "--sets", "0.9", "--csv"]) == 0
    for line, row in zip(csv.DictReader(io.StringIO(capsys.readouterr().out)), rows, strict=True):
        assert line["set"] == "; ".join(row["set"])
        assert line["set_size"] == str(len(row["set"]))
    assert main([*answers, "--sets", "0.9"]) == 0
    text = " ".join(capsys.readouterr().out.split())
    assert "set of 90 %" in text
    assert "By split conformal: at least 90 % of new images have their class in the set" in text

    assert main([*answers, "--sets", "0.95"]) == 2
    assert "need 19 held-out images, but there are 9" in capsys.readouterr().err
    assert main(["task", str(task)]) == 0
    assert "calibrated with 9 held-out images" in " ".join(capsys.readouterr().out.split())
    assert main(["task", str(task), "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["held_out"] == {"one": 3, "three": 3, "two": 3}

    add = ["fit", "--support", str(new), "--task", str(task), "--add"]
    assert main(add) == 0
    assert "calibrated with 9 held-out images" in capsys.readouterr().err
    assert main(["task", str(task), "--json"]) == 0
    assert "held_out" not in json.loads(capsys.readouterr().out)


def test_images_of_the_task_itself_are_left_out(task, tmp_path, capsys):
    content = task.read_bytes()
    assert main(["calibrate", str(task), str(tmp_path / "support")]) == 2
    assert "no image to calibrate with" in capsys.readouterr().err
    glyph(100, 30).save(tmp_path / "support" / "one" / "new.png")
    assert main(["calibrate", str(task), str(tmp_path / "support")]) == 0
    captured = capsys.readouterr()
    assert "12 images that the task was fitted to" in captured.err
    assert "support none of 0.8, 0.9" in captured.out
    assert task.read_bytes() != content


def test_other_classes_and_wrong_levels_are_refused(task, new, tmp_path, capsys):
    other = make_folder(tmp_path / "other", {"four": 104}, 2)
    assert main(["calibrate", str(task), str(other)]) == 2
    assert "no class 'four'" in capsys.readouterr().err
    for flags in (["--sets", "90"], ["--sets", "0"], ["--per-class"]):
        assert main(["predict", str(task), str(new), *flags]) == 2
        assert "--sets" in capsys.readouterr().err
