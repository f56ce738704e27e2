"""`samovar score` counts what `samovar predict` answers."""

import csv
import io
import json
import shutil

import pytest
from helpers_images import drawn, make_folder

from samovar.cli.main import main


@pytest.fixture
def labelled(tmp_path):
    """New images of two of the task's three classes, and of one that it does not have."""
    return make_folder(tmp_path / "test", {"one": 100, "two": 101, "four": 111}, 4, first=5)


def test_the_score_is_that_of_the_answers(task, labelled, tmp_path, capsys):
    capsys.readouterr()
    assert main(["predict", str(task), str(labelled), "--json"]) == 0
    right = others = 0
    for row in json.loads(capsys.readouterr().out):
        truth = row["image"].split("/")[-2]
        right += row["label"] == truth
        others += truth == "four" and row["rejected"]
    out = tmp_path / "out"
    picture = tmp_path / "confusion.png"
    flags = ["--json", "--out", str(out), "--picture", str(picture)]
    assert main(["score", str(task), str(labelled), *flags]) == 0
    scored = json.loads(capsys.readouterr().out)
    assert json.loads((out / "score.json").read_text()) == scored
    assert (scored["accuracy"]["count"], scored["accuracy"]["images"]) == (right, 8)
    assert scored["none_of_these"]["rejected"]["count"] == others
    assert scored["none_of_these"]["labels"]["four"]["images"] == 4
    assert scored["classes"]["three"]["images"] == 0
    drawn(picture.read_bytes())


def test_people_get_sentences_and_tables_of_80_columns(task, labelled, monkeypatch, capsys):
    monkeypatch.setenv("COLUMNS", "80")
    capsys.readouterr()
    assert main(["score", str(task), str(labelled)]) == 0
    printed = capsys.readouterr().out
    assert max(len(line) for line in printed.splitlines()) <= 80
    text = " ".join(printed.split())
    for words in ("of 8 images are right", "95 % interval", "of other classes were called", "ECE"):
        assert words in text
    assert "four *" in text


def test_csv_has_a_line_for_each_image(task, labelled, capsys):
    capsys.readouterr()
    assert main(["score", str(task), str(labelled), "--csv"]) == 0
    lines = list(csv.DictReader(io.StringIO(capsys.readouterr().out)))
    assert len(lines) == 12
    for line in lines:
        assert line["image"].split("/")[0] == line["truth"]
        expected = "none of these" if line["truth"] == "four" else line["truth"]
        assert (line["right"] == "True") == (line["label"] == expected)


def test_a_zip_scores_like_its_folder_and_broken_images_are_skipped(
    task, labelled, tmp_path, capsys
):
    capsys.readouterr()
    (labelled / "one" / "broken.png").write_bytes(b"")
    assert main(["score", str(task), str(labelled), "--json"]) == 1
    captured = capsys.readouterr()
    assert "broken.png" in captured.err
    shutil.make_archive(str(tmp_path / "test"), "zip", tmp_path, "test")
    assert main(["score", str(task), str(tmp_path / "test.zip"), "--json"]) == 1
    zipped = json.loads(capsys.readouterr().out)
    assert zipped["confusion"] == json.loads(captured.out)["confusion"]


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("t.safetensors", "nowhere"), "There is no folder nowhere"),
        (("nowhere.safetensors", "support"), "There is no task file"),
        (("support", "t.safetensors"), "is a folder, not a task file"),
        (("t.safetensors", "support", "--json", "--csv"), "one of --json and --csv"),
    ],
)
def test_mistakes_are_explained(arguments, words, task, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    assert main(["score", *arguments]) == 2
    assert words in capsys.readouterr().err
