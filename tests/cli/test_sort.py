"""`samovar sort` says what it would do, does it when asked, and takes it back."""

import json
from pathlib import Path

import pytest
from helpers_images import make_folder

from samovar.cli.main import main


@pytest.fixture
def heap(tmp_path) -> Path:
    """New drawings of the task's characters, and of another one, in one folder."""
    folder = make_folder(tmp_path / "new", {"one": 100, "two": 101, "four": 111}, 3, first=5)
    heap = tmp_path / "heap"
    heap.mkdir()
    for path in sorted(folder.glob("*/*")):
        path.rename(heap / f"{path.parent.name}{path.name}")
    return heap


def contents(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in folder.rglob("*.png")}


def flags(task: Path, heap: Path, *more: str) -> list[str]:
    return ["sort", str(heap), "--task", str(task), "--into", str(heap.parent / "sorted"), *more]


def test_without_apply_nothing_changes_and_the_plan_is_what_is_done_then(task, heap, capsys):
    capsys.readouterr()
    assert main(flags(task, heap)) == 0
    printed = capsys.readouterr().out
    assert "Nothing was changed. Add --apply to do this." in printed
    assert "one5.png" in printed
    assert not (heap.parent / "sorted").exists()
    assert main(flags(task, heap, "--json")) == 0
    plan = json.loads(capsys.readouterr().out)
    assert main(flags(task, heap, "--json", "--apply")) == 0
    done = json.loads(capsys.readouterr().out)
    assert done == plan | {"applied": True}
    for photo in done["photos"]:
        assert Path(photo["target"]).read_bytes() == Path(photo["image"]).read_bytes()
    right = [Path(p["target"]).parent.name == Path(p["image"]).name[:3] for p in done["photos"]]
    assert sum(right) >= 4
    assert any(Path(photo["target"]).parent.name == "none of these" for photo in done["photos"])


@pytest.mark.parametrize("by", ["link", "copy", "move"])
def test_sorted_by_each_way_and_taken_back(by, task, heap, capsys):
    before = contents(heap)
    into = heap.parent / "sorted"
    assert main(flags(task, heap, "--apply", "--by", by)) == 0
    assert contents(into) == before
    assert bool(contents(heap)) == (by != "move")
    capsys.readouterr()
    assert main(flags(task, heap, "--apply", "--by", by)) == 0
    assert "There are no new photos to sort." in capsys.readouterr().out
    assert main(["sort", "--undo", "--into", str(into)]) == 0
    assert "9 photos taken back" in capsys.readouterr().out
    assert contents(heap) == before
    assert list(into.iterdir()) == []


def test_a_heap_without_photos_is_an_error_unless_all_were_sorted(task, tmp_path, capsys):
    (tmp_path / "heap").mkdir()
    capsys.readouterr()
    assert main(flags(task, tmp_path / "heap", "--apply")) == 2
    assert "There are no images" in capsys.readouterr().err


def test_everything_is_unsure_when_one_must_be_certain(task, heap, capsys):
    capsys.readouterr()
    assert main(flags(task, heap, "--json", "--unsure", "1")) == 0
    folders = json.loads(capsys.readouterr().out)["folders"]
    assert set(folders) <= {"unsure", "none of these"}


def test_undo_names_what_it_leaves(task, heap, capsys):
    into = heap.parent / "sorted"
    assert main(flags(task, heap, "--apply", "--by", "copy")) == 0
    copy = next(into.rglob("one5.png"))
    copy.write_bytes(b"retouched")
    capsys.readouterr()
    assert main(["sort", "--undo", "--into", str(into)]) == 1
    assert str(copy) in capsys.readouterr().err
    assert copy.read_bytes() == b"retouched"


@pytest.mark.parametrize(
    ("change", "complaint"),
    [
        (["--watch"], "add --apply"),
        (["--watch", "--apply", "--json"], "leave out --json"),
        (["--unsure", "2"], "from 0 to 1"),
        (["--undo"], "--undo needs only --into"),
    ],
)
def test_flags_that_make_no_sense_are_refused(change, complaint, task, heap, capsys):
    capsys.readouterr()
    assert main(flags(task, heap, *change)) == 2
    assert complaint in capsys.readouterr().err


def test_missing_things_are_named(task, heap, tmp_path, capsys):
    into = ["--into", str(tmp_path / "sorted")]
    capsys.readouterr()
    for arguments, complaint in (
        (["sort", str(heap), *into], "Name the task"),
        (["sort", *into, "--task", str(task)], "No photos were given"),
        (["sort", str(tmp_path / "nowhere"), *into, "--task", str(task)], "nowhere"),
        (["sort", "--undo", *into], "nothing to undo"),
    ):
        assert main(arguments) == 2
        assert complaint in capsys.readouterr().err
    assert not (tmp_path / "sorted").exists()


def test_a_photo_that_cannot_be_read_stays_and_is_named(task, heap, capsys):
    (heap / "broken.png").write_bytes(b"")
    capsys.readouterr()
    assert main(flags(task, heap, "--apply", "--by", "move")) == 1
    assert "broken.png" in capsys.readouterr().err
    assert sorted(path.name for path in heap.iterdir()) == ["broken.png"]
