"""`samovar fit`, `predict` and `task` on a user's own images: from the shell, and with bad and hostile input."""

import csv
import io
import json
import os
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from samovar.cli import main

NOISE = np.random.default_rng(0)


def glyph(seed: int, variant: int = 0) -> Image.Image:
    """Dark strokes on white paper; the seed chooses the character, the variant its shakes."""
    paper = np.full((40, 40), 255, np.uint8)
    corners = np.random.default_rng(seed).integers(4, 32, size=(3, 2))
    shake = np.random.default_rng(1000 * seed + variant).integers(-1, 2, size=(3, 2))
    for row, column in corners + shake:
        paper[row : row + 3, 4:36] = 0
        paper[4:36, column : column + 3] = 0
    return Image.fromarray(paper)


def make_folder(root: Path, names: dict[str, int], images: int, first: int = 0) -> Path:
    for name, seed in names.items():
        (root / name).mkdir(parents=True)
        for i in range(first, first + images):
            glyph(seed, i).save(root / name / f"{i}.png")
    return root


def test_from_the_shell_in_an_empty_folder(tmp_path):
    """Train a tiny model, fit, predict, extend, predict again."""
    make_folder(tmp_path / "mine", {f"class {i}": i for i in range(12)}, 8)
    make_folder(tmp_path / "support", {"one": 100, "two": 101}, 3)
    make_folder(tmp_path / "more", {"three": 102, "two": 101}, 2, first=3)

    def shell(*arguments: str) -> str:
        command = [sys.executable, "-m", "samovar", *arguments]
        done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr
        return done.stdout

    small = ("--updates", "3", "--tasks", "1", "--model.width", "4", "--validation.tasks", "5")
    small += ("--validation.test-tasks", "5", "--validation.queries", "2")
    shell("train", "folder", "--root", "mine", "--out", "run", *small)
    cells = json.loads((tmp_path / "run" / "model" / "config.json").read_text())["rejection"]["cells"]
    shapes = [(way, shot) for way in (1, 2) for shot in (1, 2, 5)]
    assert [(cell["way"], cell["shot"]) for cell in cells] == shapes, "as far as two classes of 8 go"
    shell("fit", "--model", "run", "--support", "support", "--task", "t.safetensors")
    assert json.loads(shell("task", "t.safetensors", "--json"))["parameters"]["reject"] == 0.05
    first = json.loads(shell("predict", "t.safetensors", "support/one/0.png", "support/two", "--json"))
    assert [each["image"] for each in first] == ["support/one/0.png", *(f"support/two/{i}.png" for i in range(3))]
    for each in first:
        assert set(each["probabilities"]) == {"one", "two"}
        assert sum(each["probabilities"].values()) == pytest.approx(1)
        assert isinstance(each["rejected"], bool)
        assert each["mutual_information"] >= 0
    shell("fit", "--support", "more", "--task", "t.safetensors", "--add")
    assert json.loads(shell("task", "t.safetensors", "--json"))["classes"] == {"one": 3, "three": 2, "two": 5}
    again = json.loads(shell("predict", "t.safetensors", "more/three/3.png", "--json"))
    assert set(again[0]["probabilities"]) == {"one", "three", "two"}


@pytest.fixture
def task(tmp_path) -> Path:
    make_folder(tmp_path / "support", {"one": 100, "two": 101, "three": 102}, 4)
    path = tmp_path / "t.safetensors"
    assert main(["fit", "--support", str(tmp_path / "support"), "--task", str(path)]) == 0
    return path


def test_the_shipped_model_tells_characters_apart_and_table_csv_and_picture_agree(task, tmp_path, capsys):
    make_folder(tmp_path / "new", {"one": 100, "two": 101, "three": 102}, 5, first=4)
    files = [str(path) for path in sorted((tmp_path / "new").glob("*/*"))]
    capsys.readouterr()
    assert main(["predict", str(task), *files, "--json", "--out", str(tmp_path / "out")]) == 0
    printed = capsys.readouterr().out
    rows = json.loads(printed)
    assert json.loads((tmp_path / "out" / "predictions.json").read_text()) == rows
    assert np.mean([row["best"] == Path(row["image"]).parent.name for row in rows]) > 0.8
    assert all(row["label"] == ("none of these" if row["rejected"] else row["best"]) for row in rows)
    assert main(["predict", str(task), *files, "--csv"]) == 0
    table = list(csv.DictReader(io.StringIO(capsys.readouterr().out)))
    assert [each["label"] for each in table] == [row["label"] for row in rows]
    assert main(["predict", str(task), *files, "--picture", str(tmp_path / "answers.png")]) == 0
    assert "█" in capsys.readouterr().out
    with Image.open(tmp_path / "answers.png") as picture:
        assert picture.size[0] > 100


def test_folders_of_folders_are_not_searched_but_named(task, tmp_path, capsys):
    make_folder(tmp_path / "new", {"one": 1}, 1)
    assert main(["predict", str(task), str(tmp_path / "new")]) == 2
    assert f"Name the folders inside: {tmp_path / 'new' / 'one'}" in capsys.readouterr().err.replace("\n", " ")


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
    assert [row["image"] for row in json.loads(captured.out)] == [str(good)]
    for name in bad:
        assert name in captured.err
    shutil.copy(tmp_path / "empty.png", tmp_path / "support" / "two" / "broken.png")
    assert main(["fit", "--support", str(tmp_path / "support"), "--task", str(tmp_path / "u.safetensors")]) == 1
    assert "broken.png" in capsys.readouterr().err
    assert (tmp_path / "u.safetensors").exists()


def test_a_class_that_cannot_be_read_at_all_is_an_error_and_nothing_is_written(task, tmp_path, capsys):
    (tmp_path / "support" / "four").mkdir()
    (tmp_path / "support" / "four" / "x.png").write_bytes(b"broken")
    before = task.read_bytes()
    assert main(["fit", "--support", str(tmp_path / "support"), "--task", str(task)]) == 2
    assert "'four'" in capsys.readouterr().err
    assert task.read_bytes() == before


def test_the_reason_is_that_of_the_class_that_is_lost(task, tmp_path, capsys):
    (tmp_path / "support" / "one" / "x.png").write_bytes(b"broken")
    (tmp_path / "support" / "zero").mkdir()
    (tmp_path / "support" / "zero" / "y.png").write_bytes(b"broken")
    assert main(["fit", "--support", str(tmp_path / "support"), "--task", str(task)]) == 2
    complaint = capsys.readouterr().err
    assert "'zero' can be read" in complaint
    assert "y.png is not an image that can be read (its kind is none of JPEG" in complaint
    assert "x.png" not in complaint


def test_a_rate_that_cannot_be_had_writes_nothing(tmp_path, capsys):
    make_folder(tmp_path / "support", {"one": 100, "two": 101}, 1)
    path = tmp_path / "t.safetensors"
    assert main(["fit", "--support", str(tmp_path / "support"), "--task", str(path), "--reject", "2"]) == 2
    assert "reject must be from" in capsys.readouterr().err
    assert not path.exists()


def test_with_one_class_the_question_is_whether_it_belongs(tmp_path, capsys):
    make_folder(tmp_path / "support", {"one": 100}, 3)
    path = tmp_path / "t.safetensors"
    assert main(["fit", "--support", str(tmp_path / "support"), "--task", str(path)]) == 0
    printed = " ".join(capsys.readouterr().out.split())
    assert "leave-one-out on 3 support images: 0% rejected" in printed
    assert "right" not in printed, "with one class every answer is"
    make_folder(tmp_path / "new", {"one": 100, "two": 111}, 2)
    assert main(["predict", str(path), str(tmp_path / "new" / "one"), str(tmp_path / "new" / "two"), "--json"]) == 0
    rows = json.loads(capsys.readouterr().out)
    assert [row["label"] for row in rows] == ["one", "one", "none of these", "none of these"]
    assert max(row["distance"] for row in rows[:2]) < min(row["distance"] for row in rows[2:])


def test_a_folder_named_like_a_shipped_model_is_no_obstacle(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "glyphs").mkdir()
    make_folder(tmp_path / "support", {"one": 100, "two": 101}, 2)
    assert main(["fit", "--support", "support", "--task", "t.safetensors", "--model", "glyphs"]) == 0
    assert main(["predict", "t.safetensors", "support/one/0.png"]) == 0


def test_file_names_that_are_not_text_in_csv(task, tmp_path):
    odd = os.fsencode(tmp_path) + b"/odd\xff.png"
    shutil.copy(os.fsencode(tmp_path / "support" / "one" / "0.png"), odd)
    command = [sys.executable, "-m", "samovar", "predict", str(task), odd, "--csv"]
    strict = os.environ | {"PYTHONIOENCODING": "utf-8:strict"}
    done = subprocess.run(command, capture_output=True, check=False, env=strict)
    assert done.returncode == 0, done.stderr
    assert b"odd\\udcff.png" in done.stdout


def test_links_out_of_the_folder_are_refused(task, tmp_path, capsys):
    (tmp_path / "secret.png").write_bytes((tmp_path / "support" / "one" / "0.png").read_bytes())
    (tmp_path / "support" / "one" / "link.png").symlink_to(tmp_path / "secret.png")
    assert main(["fit", "--support", str(tmp_path / "support"), "--task", str(task)]) == 2
    assert "link" in capsys.readouterr().err
    (tmp_path / "support" / "one" / "link.png").unlink()
    make_folder(tmp_path / "elsewhere", {"four": 103}, 2)
    (tmp_path / "support" / "four").symlink_to(tmp_path / "elsewhere" / "four")
    assert main(["fit", "--support", str(tmp_path / "support"), "--task", str(task)]) == 2
    assert "is a link to a place outside" in capsys.readouterr().err


def test_names_with_newlines_and_markup_come_out_harmless(tmp_path, capsys):
    names = {"[bold]x": 1, "a\nb": 2, "$x^2$": 3, "\x1b[31mred": 4}
    make_folder(tmp_path / "s", names, 2)
    path = tmp_path / "t.safetensors"
    assert main(["fit", "--support", str(tmp_path / "s"), "--task", str(path)]) == 0
    assert main(["predict", str(path), str(tmp_path / "s" / "a\nb"), "--picture", str(tmp_path / "p.png")]) == 0
    out = capsys.readouterr().out
    assert "\x1b[31mred" not in out
    assert "[bold]x" in out
    assert main(["predict", str(path), str(tmp_path / "s" / "a\nb"), "--json"]) == 0
    assert set(json.loads(capsys.readouterr().out)[0]["probabilities"]) == set(names)


def test_thousands_of_classes(tmp_path, capsys):
    small = np.zeros((8, 8), np.uint8)
    for i in range(2000):
        (tmp_path / "s" / f"{i:04}").mkdir(parents=True)
        small[:] = i % 256
        Image.fromarray(small).save(tmp_path / "s" / f"{i:04}" / "x.png")
    path = tmp_path / "t.safetensors"
    assert main(["fit", "--support", str(tmp_path / "s"), "--task", str(path), "--samples", "16"]) == 0
    assert "... and 1950 more" in capsys.readouterr().out
    assert main(["predict", str(path), str(tmp_path / "s" / "0007" / "x.png"), "--json"]) == 0
    assert len(json.loads(capsys.readouterr().out)[0]["probabilities"]) == 2000


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("fit", "--support", "nowhere", "--task", "t.safetensors"), "no folder nowhere"),
        (("fit", "--support", ".", "--task", "t.safetensors", "--model", "unknown"), "class folders"),
        (("predict", "nowhere.safetensors", "x.png"), "not a task file"),
        (("task", "nowhere.safetensors"), "not a task file"),
        (("fit", "--support", "s", "--task", "t.safetensors", "--device", "abacus"), "cpu, cuda, mps or auto"),
        (("fit", "--support", "s", "--task", "t.safetensors", "--samples", "9" * 20), "from 1 to 1000000"),
        (("predict", "t.safetensors", "x.png", "--json", "--csv"), "one of --json and --csv"),
        (("predict", "t.safetensors", "x.png", "--picture", "p.jpg"), "ends with .png, unlike 'p.jpg'"),
        (("predict", "t.safetensors", "x.png", "--picture", "."), "ends with .png, unlike '.'"),
        (("fit", "--support", "a" * 300, "--task", "t.safetensors"), "File name too long"),
        (("fit", "--support", "s", "--task", "."), "Cannot write"),
        (("fit", "--support", "s", "--task", "t.safetensors", "--reject", "2"), "reject must be from"),
    ],
)
def test_mistakes_are_explained(arguments, words, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    if "s" in arguments:
        make_folder(tmp_path / "s", {"one": 1}, 1)
    assert main(list(arguments)) == 2
    assert words in capsys.readouterr().err


def test_photographs_through_the_shipped_model(archives, tmp_path, capsys):
    """Groceries: clearly above chance among five products, and other products are rejected more often than these."""
    with zipfile.ZipFile(archives("grocery-sample.zip")) as archive:
        members: dict[str, list[str]] = {}
        for name in sorted(archive.namelist()):
            if name.endswith(".jpg"):
                members.setdefault(name.split("/")[-2], []).append(name)
        products = [product for product, files in members.items() if len(files) >= 15][::6][:10]
        ours, others = products[:5], products[5:]
        for product in products:
            chosen = members[product][:15] if product in ours else members[product][:6]
            for i, name in enumerate(chosen):
                part = "other" if product in others else "support" if i < 5 else "query"
                path = tmp_path / part / product / f"{i}.jpg"
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_bytes(archive.read(name))
    task = tmp_path / "t.safetensors"
    fit = ["fit", "--model", "cifar_fs", "--support", str(tmp_path / "support"), "--task", str(task), "--reject", "0.2"]
    assert main(fit) == 0
    rows = {}
    for part in ("query", "other"):
        files = [str(path) for path in sorted((tmp_path / part).glob("*/*"))]
        capsys.readouterr()
        assert main(["predict", str(task), *files, "--json"]) == 0
        rows[part] = json.loads(capsys.readouterr().out)
    right = np.mean([row["best"] == Path(row["image"]).parent.name for row in rows["query"]])
    rejected = {part: np.mean([row["rejected"] for row in each]) for part, each in rows.items()}
    assert right > 0.4, "chance is 0.2"
    assert rejected["other"] > rejected["query"]
