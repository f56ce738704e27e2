"""`samovar next` writes a contact sheet, a CSV and Label Studio's files."""

import csv
import io
import json
from pathlib import Path

import pytest
from helpers_images import drawn, make_folder

from samovar.cli.main import main


@pytest.fixture
def heap(tmp_path) -> Path:
    return make_folder(tmp_path / "heap", {"one": 100, "two": 101, "four": 111}, 4, first=4)


def test_the_files_name_the_same_photos_in_the_same_order(task, heap, tmp_path, capsys):
    capsys.readouterr()
    flags = ["--count", "5", "--out", str(tmp_path / "out")]
    assert main(["next", str(task), str(heap), *flags]) == 0
    printed = capsys.readouterr().out
    rows = list(csv.DictReader(io.StringIO((tmp_path / "out" / "next.csv").read_text())))
    assert len(rows) == 5
    tasks = json.loads((tmp_path / "out" / "next.json").read_text())
    for row, entry in zip(rows, tasks, strict=True):
        assert entry["data"]["image"].endswith(row["image"].lstrip("/"))
        assert entry["predictions"][0]["score"] == pytest.approx(
            float(row["probability"]), abs=1e-5
        )
        assert Path(row["image"]).name in printed
    assert "Choices" in (tmp_path / "out" / "next.xml").read_text()
    drawn((tmp_path / "out" / "next.png").read_bytes())


def test_photos_of_the_task_are_left_out_and_counted(task, heap, tmp_path, capsys):
    known = tmp_path / "support" / "one" / "0.png"
    capsys.readouterr()
    flags = ["--count", "50", "--out", str(tmp_path / "out")]
    assert main(["next", str(task), str(known), str(heap), *flags]) == 0
    assert "1 photo was left out: the task has it already." in capsys.readouterr().err
    assert len((tmp_path / "out" / "next.csv").read_text().splitlines()) == 13


def test_interactive_labels_grow_the_task_at_once(task, heap, tmp_path, monkeypatch, capsys):
    monkeypatch.setattr("sys.stdin", io.StringIO("four\n-\none\n"))
    capsys.readouterr()
    assert main(["task", str(task), "--json"]) == 0
    first = json.loads(capsys.readouterr().out)
    assert main(["next", str(task), str(heap), "--count", "2", "--interactive"]) == 0
    assert "2 photos were added" in capsys.readouterr().out
    assert main(["task", str(task), "--json"]) == 0
    grown = json.loads(capsys.readouterr().out)
    assert sum(grown["classes"].values()) == sum(first["classes"].values()) + 2
    assert grown["classes"]["four"] == 1
    assert not (tmp_path / "next").exists()


@pytest.mark.parametrize(
    ("flags", "complaint"), [(["--count", "0"], "at least 1"), (["--encoder", "x.onnx"], "encoder")]
)
def test_nonsense_is_refused(flags, complaint, task, heap, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    capsys.readouterr()
    assert main(["next", str(task), str(heap), *flags]) == 2
    assert complaint in capsys.readouterr().err
