"""`samovar check` writes its page and JSON, changes nothing, and moves what it found if asked."""

import json
import shutil
from pathlib import Path

import pytest
from helpers_photos import draw_photos
from PIL import Image

from samovar.cli.main import main


@pytest.fixture(scope="module")
def sound(tmp_path_factory) -> Path:
    return draw_photos(tmp_path_factory.mktemp("sound"), {"disc": 6, "bars": 6, "checks": 6})


@pytest.fixture
def photos(sound, tmp_path) -> Path:
    """Drawn photographs: a disc among the bars, and a small copy of a picture of checks."""
    root = shutil.copytree(sound, tmp_path / "photos")
    (root / "disc" / "5.jpg").rename(root / "bars" / "disc5.jpg")
    with Image.open(root / "checks" / "2.jpg") as picture:
        picture.resize((170, 150)).save(root / "checks" / "copy.jpg", quality=70)
    return root


def files(root: Path) -> set[str]:
    return {str(path.relative_to(root)) for path in root.rglob("*") if path.is_file()}


def check(place: Path, out: Path, *flags: str) -> dict:
    assert main(["check", str(place), "--out", str(out), *flags]) == 0
    return json.loads((out / "check.json").read_text())


def test_what_was_planted_is_found_shown_and_not_touched(photos, tmp_path, capsys):
    before = files(photos)
    report = check(photos, tmp_path / "out")
    assert [suspect["image"] for suspect in report["suspects"]] == ["bars/disc5.jpg"]
    assert report["suspects"][0]["answer"] == "disc"
    groups = [set(group["images"]) for group in report["duplicates"]]
    assert {"checks/2.jpg", "checks/copy.jpg"} in groups
    printed = capsys.readouterr().out
    assert "bars/disc5.jpg" in printed
    assert "data:image/jpeg" in (tmp_path / "out" / "check.html").read_text()
    assert files(photos) == before


def test_moved_photos_can_be_taken_back(photos, tmp_path, capsys):
    before = files(photos)
    moved = tmp_path / "moved"
    report = check(photos, tmp_path / "out", "--move-to", str(moved))
    gone = before - files(photos)
    assert "bars/disc5.jpg" in gone
    assert "checks/copy.jpg" in gone or "checks/2.jpg" in gone
    assert len(gone) == len(list(moved.rglob("*.jpg")))
    assert report["images"] == len(before)
    assert main(["sort", "--undo", "--into", str(moved)]) == 0
    assert files(photos) == before
    capsys.readouterr()


def test_a_task_is_checked_by_its_vectors(photos, tmp_path, capsys):
    task = tmp_path / "t.safetensors"
    assert main(["fit", "--support", str(photos), "--task", str(task)]) == 0
    report = check(task, tmp_path / "out")
    assert [suspect["image"] for suspect in report["suspects"]] == ["bars/disc5.jpg"]
    assert "data:image" not in (tmp_path / "out" / "check.html").read_text()
    capsys.readouterr()
    assert main(["check", str(task), "--move-to", str(tmp_path / "x")]) == 2
    assert "Check the folder" in capsys.readouterr().err


def test_new_photos_of_another_camera_are_noticed(sound, tmp_path, capsys):
    new = draw_photos(tmp_path / "new", {"disc": 5, "bars": 5, "checks": 5}, first=20)
    for path in new.rglob("*.jpg"):
        with Image.open(path) as picture:
            changed = picture.convert("L").resize((40, 40)).convert("RGB")
        changed.save(path)
    flags = ["--against", str(new), "--json"]
    report = check(sound, tmp_path / "out", *flags)
    assert report["camera"]["changed"] is True
    assert json.loads(capsys.readouterr().out) == report


def test_what_is_not_there_is_named_before_anything_is_loaded(tmp_path, capsys):
    assert main(["check", str(tmp_path / "nowhere")]) == 2
    assert "nowhere" in capsys.readouterr().err
    assert main(["check", str(tmp_path), "--against", str(tmp_path / "new")]) == 2
    assert str(tmp_path / "new") in capsys.readouterr().err


def test_a_small_model_cannot_compare_cameras(tmp_path, photos, capsys):
    flags = ["--model", "glyphs", "--against", str(photos), "--out", str(tmp_path / "out")]
    assert main(["check", str(photos), *flags]) == 2
    assert "cannot be compared" in capsys.readouterr().err
