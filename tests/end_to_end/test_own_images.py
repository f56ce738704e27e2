"""From a user's own images to answers, in a shell and with the shipped models."""

import json
import os
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

import numpy as np
import pytest
from helpers_images import make_folder

from samovar.cli.main import main


@pytest.mark.slow
def test_from_the_shell_in_an_empty_folder(tmp_path, monkeypatch, capsys):
    """Train a tiny model, fit, predict, extend, predict again; files are all that commands share.

    One command is a process of its own, which knows nothing but the files: a start takes seconds.
    """
    monkeypatch.chdir(tmp_path)
    make_folder(tmp_path / "mine", {f"class {i}": i for i in range(12)}, 8)
    make_folder(tmp_path / "support", {"one": 100, "two": 101}, 3)
    make_folder(tmp_path / "more", {"three": 102, "two": 101}, 2, first=3)

    def run(*arguments: str) -> str:
        capsys.readouterr()
        assert main(list(arguments)) == 0
        return capsys.readouterr().out

    def shell(*arguments: str) -> str:
        command = [sys.executable, "-m", "samovar", *arguments]
        done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr
        return done.stdout

    small = ("--updates", "3", "--tasks", "1", "--model.width", "4", "--validation.tasks", "5")
    small += ("--validation.test-tasks", "5", "--validation.queries", "2")
    run("train", "folder", "--root", "mine", "--out", "run", *small)
    config = json.loads((tmp_path / "run" / "model" / "config.json").read_text())
    shapes = [(cell["way"], cell["shot"]) for cell in config["rejection"]["cells"]]
    assert shapes == [(way, shot) for way in (1, 2) for shot in (1, 2, 5)], (
        "as far as two classes of 8 go"
    )
    run("fit", "--model", "run", "--support", "support", "--task", "t.safetensors")
    assert json.loads(run("task", "t.safetensors", "--json"))["parameters"]["reject"] == 0.05
    images = ("support/one/0.png", "support/two")
    first = json.loads(shell("predict", "t.safetensors", *images, "--json"))
    assert [row["image"] for row in first] == [
        "support/one/0.png",
        *(f"support/two/{i}.png" for i in range(3)),
    ]
    for row in first:
        assert set(row["probabilities"]) == {"one", "two"}
        assert sum(row["probabilities"].values()) == pytest.approx(1)
        assert isinstance(row["rejected"], bool)
        assert row["mutual_information"] >= 0
    run("fit", "--support", "more", "--task", "t.safetensors", "--add")
    classes = json.loads(run("task", "t.safetensors", "--json"))["classes"]
    assert classes == {"one": 3, "three": 2, "two": 5}
    again = json.loads(run("predict", "t.safetensors", "more/three/3.png", "--json"))
    assert set(again[0]["probabilities"]) == {"one", "three", "two"}


@pytest.mark.slow
def test_file_names_that_are_not_text_in_csv(task, tmp_path):
    odd = os.fsencode(tmp_path) + b"/odd\xff.png"
    shutil.copy(os.fsencode(tmp_path / "support" / "one" / "0.png"), odd)
    command = [sys.executable, "-m", "samovar", "predict", str(task), odd, "--csv"]
    strict = os.environ | {"PYTHONIOENCODING": "utf-8:strict"}
    done = subprocess.run(command, capture_output=True, check=False, env=strict)
    assert done.returncode == 0, done.stderr
    assert b"odd\\udcff.png" in done.stdout


def test_photographs_through_the_shipped_model(archives, tmp_path, capsys):
    """Groceries: above chance among five products, and others are rejected more often."""
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
    fit = [
        "fit",
        "--model",
        "cifar_fs",
        "--support",
        str(tmp_path / "support"),
        "--task",
        str(task),
        "--reject",
        "0.2",
    ]
    assert main(fit) == 0
    rows = {}
    for part in ("query", "other"):
        files = [str(path) for path in sorted((tmp_path / part).glob("*/*"))]
        capsys.readouterr()
        assert main(["predict", str(task), *files, "--json"]) == 0
        rows[part] = json.loads(capsys.readouterr().out)
    right = np.mean([row["best"] == Path(row["image"]).parent.name for row in rows["query"]])
    rejected = {part: np.mean([row["rejected"] for row in rows[part]]) for part in rows}
    assert right > 0.4, "chance is 0.2"
    assert rejected["other"] > rejected["query"]
