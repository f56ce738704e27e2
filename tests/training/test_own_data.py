"""Split, size and way are chosen from the user's own images, and the user's flags hold."""

import json
import shutil

import numpy as np

from samovar.cli.main import main


def test_own_images_from_the_command_line(tmp_path, capsys):
    """Split, size and way are chosen from what is there, and said; too little is refused with the reason."""
    from PIL import Image

    rng = np.random.default_rng(0)
    for i in range(8):
        (tmp_path / "own" / f"c{i}").mkdir(parents=True)
        for j in range(3 + i):
            Image.fromarray(rng.integers(0, 256, (20, 24, 3), np.uint8)).save(
                tmp_path / "own" / f"c{i}" / f"{j}.png"
            )
    flags = [
        "--updates",
        "2",
        "--validation.tasks",
        "2",
        "--validation.test-tasks",
        "2",
        "--model.width",
        "4",
    ]
    assert (
        main(
            [
                "train",
                "folder",
                "--root",
                str(tmp_path / "own"),
                "--out",
                str(tmp_path / "run"),
                *flags,
            ]
        )
        == 0
    )
    captured = capsys.readouterr()
    assert (
        "8 classes (train / val / test 4 / 2 / 2), 3 to 10 of each, stored as 32 x 32 x 3"
        in captured.err
    )
    assert "4-way 1-shot tasks with 2 queries per class; validating on 2-way 1-shot" in captured.err
    assert "Test accuracy" in captured.out
    for name in ("training.png", "episode.png", "test.json", "config.json", "metrics.jsonl"):
        assert (tmp_path / "run" / name).exists()
    for name in ("c5", "c6", "c7"):
        shutil.rmtree(tmp_path / "own" / name)
    assert (
        main(["train", "folder", "--root", str(tmp_path / "own"), "--out", str(tmp_path / "few")])
        == 2
    )
    assert "at least 2 classes in each" in capsys.readouterr().err
    assert main(["train", "folder", "--out", str(tmp_path / "none")]) == 2
    assert "--root" in capsys.readouterr().err


def test_flags_hold_on_own_images(tmp_path, capsys):
    """What the user chose is kept where the data allow it; two folders are two data sets, a store is taken by name."""
    from PIL import Image

    for root in ("own", "other"):
        for i in range(8):
            (tmp_path / root / f"c{i}").mkdir(parents=True)
            for j in range(6):
                Image.new("RGB", (20, 20), (30 * i, 40 * j, 0)).save(
                    tmp_path / root / f"c{i}" / f"{j}.png"
                )
    flags = [
        "--updates",
        "1",
        "--validation.tasks",
        "2",
        "--validation.test-tasks",
        "2",
        "--model.width",
        "4",
    ]
    flags += ["--model.backbone", "resnet12", "--model.size", "16", "--model.channels", "1"]
    flags += ["--validation.queries", "2", "--validation.shot", "3"]
    out = ["--out", str(tmp_path / "run")]
    assert main(["train", "folder", "--root", str(tmp_path / "own"), *out, *flags]) == 0
    settings = json.loads((tmp_path / "run" / "config.json").read_text())["settings"]
    assert {name: settings["model"][name] for name in ("backbone", "size", "channels")} == {
        "backbone": "resnet12",
        "size": 16,
        "channels": 1,
    }
    assert (settings["validation"]["queries"], settings["validation"]["shot"]) == (2, 3)
    assert settings["data"]["name"] == "folder-own"
    assert main(["train", "folder", "--root", str(tmp_path / "other"), *out, *flags]) == 2
    assert "data.name: folder-own -> folder-other" in capsys.readouterr().err
    named = ["--root", str(tmp_path / "other"), "--data.name", "pets"]
    assert main(["train", "folder", *named, "--out", str(tmp_path / "named"), *flags]) == 0
    assert (
        main(["train", "folder", "--data.name", "pets", "--out", str(tmp_path / "store"), *flags])
        == 0
    )
    first, second = (
        json.loads((tmp_path / each / "config.json").read_text()) for each in ("named", "store")
    )
    assert first["settings"] == second["settings"]
    assert first["settings"]["model"]["size"] == 16, "as the store has it"
    assert main(["train", "folder", "--data.name", "dogs", "--out", str(tmp_path / "none")]) == 2
    assert "no prepared data called 'dogs'" in capsys.readouterr().err
