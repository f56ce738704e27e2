"""Split, size and way are chosen from the user's own images, and the user's flags hold."""

import json
import shutil
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from helpers import make_store
from PIL import Image

from samovar.cli.main import main
from samovar.data.preparation import prepare
from samovar.errors import DataError
from samovar.settings.data import PrepareSettings
from samovar.settings.presets import PRESETS
from samovar.training.own_data import fit_to, folder_name, prepare_own

QUICK = "--validation.tasks 2 --validation.test-tasks 2 --model.width 4"


def draw_classes(root: Path, counts: list[int]) -> None:
    """A folder for each class, with so many images of noise."""
    rng = np.random.default_rng(0)
    for position, count in enumerate(counts):
        folder = root / f"c{position}"
        folder.mkdir(parents=True)
        for number in range(count):
            pixels = rng.integers(0, 256, (20, 24, 3), np.uint8)
            Image.fromarray(pixels).save(folder / f"{number}.png")


def train_folder(out: Path, flags: str = "") -> int:
    return main(["train", "folder", "--out", str(out), *flags.split()])


def test_own_images_from_the_command_line(tmp_path, capsys):
    """What was chosen is said; too little is refused with the reason."""
    own = tmp_path / "own"
    draw_classes(own, [3 + position for position in range(8)])
    assert train_folder(tmp_path / "run", f"--root {own} --updates 2 {QUICK}") == 0
    captured = capsys.readouterr()
    assert "8 classes (train / val / test 4 / 2 / 2) with 3 to 10 images each" in captured.err
    assert "stored as 32 x 32 x 3" in captured.err
    assert "4-way 1-shot tasks with 2 queries per class; validating on 2-way 1-shot" in captured.err
    assert "Test accuracy" in captured.out
    for name in ("training.png", "episode.png", "test.json", "config.json", "metrics.jsonl"):
        assert (tmp_path / "run" / name).exists()
    for name in ("c5", "c6", "c7"):
        shutil.rmtree(own / name)
    assert train_folder(tmp_path / "few", f"--root {own}") == 2
    assert "at least 2 classes in each" in capsys.readouterr().err
    assert train_folder(tmp_path / "none") == 2
    assert "--root" in capsys.readouterr().err


def test_flags_hold_on_own_images(tmp_path, capsys):
    """What the user chose is kept where the data allow it.

    Two folders are two data sets, and prepared data is used by its name.
    """
    own, other, out = tmp_path / "own", tmp_path / "other", tmp_path / "run"
    draw_classes(own, [6] * 8)
    draw_classes(other, [6] * 8)
    flags = f"{QUICK} --updates 1 --validation.queries 2 --validation.shot 3"
    flags += " --model.backbone resnet12 --model.size 16 --model.channels 1"
    assert train_folder(out, f"--root {own} {flags}") == 0
    settings = json.loads((out / "config.json").read_text())["settings"]
    chosen = {name: settings["model"][name] for name in ("backbone", "size", "channels")}
    assert chosen == {"backbone": "resnet12", "size": 16, "channels": 1}
    assert (settings["validation"]["queries"], settings["validation"]["shot"]) == (2, 3)
    assert settings["data"]["name"] == "folder-own-16px-grey"
    assert train_folder(out, f"--root {other} {flags}") == 2
    assert "data.name: folder-own-16px-grey -> folder-other-16px-grey" in capsys.readouterr().err
    assert train_folder(tmp_path / "named", f"--root {other} --data.name pets {flags}") == 0
    assert train_folder(tmp_path / "store", f"--data.name pets {flags}") == 0
    first = json.loads((tmp_path / "named" / "config.json").read_text())
    second = json.loads((tmp_path / "store" / "config.json").read_text())
    assert first["settings"] == second["settings"]
    assert first["settings"]["model"]["size"] == 16, "as the store has it"
    assert train_folder(tmp_path / "none", "--data.name dogs") == 2
    assert "no prepared data set called 'dogs'" in capsys.readouterr().err


def split_of(*sizes: int) -> dict[str, list[str]]:
    names = iter([f"class {position}" for position in range(sum(sizes))])
    parts = zip(("train", "val", "test"), sizes, strict=True)
    return {part: [next(names) for _ in range(size)] for part, size in parts}


def test_settings_are_lowered_to_what_the_data_has(data_folder):
    store = make_store(data_folder, [4] * 9, (40, 40, 1), split_of(4, 2, 3))
    fitted, notes = fit_to(PRESETS["folder"].settings, store)
    assert (fitted.model.size, fitted.model.channels) == (40, 1)
    assert fitted.model.backbone == "conv5", "CONV-4 is for 32 pixels"
    assert (fitted.episodes.way, fitted.validation.way) == (4, 2)
    assert fitted.episodes.shot + fitted.episodes.queries <= 4
    assert fitted.validation.shot + fitted.validation.queries <= 4
    assert notes[0].endswith("with 4 to 4 images each, stored as 40 x 40 x 1; the network is conv5")


def test_vectors_need_no_backbone(data_folder):
    store = make_store(data_folder, [4] * 9, (7,), split_of(4, 2, 3))
    fitted, _ = fit_to(PRESETS["folder"].settings, store)
    assert (fitted.model.backbone, fitted.model.size) == ("identity", 7)


def test_too_little_data_is_refused_by_name(data_folder):
    few = make_store(data_folder, [4] * 6, (12, 12, 3), split_of(3, 1, 2), name="few")
    with pytest.raises(DataError, match="few has 3 in train, 1 in val, 2 in test"):
        fit_to(PRESETS["folder"].settings, few)
    counts = [4, 4, 1, 4, 4, 4]
    short = make_store(data_folder, counts, (12, 12, 3), split_of(2, 2, 2), name="short")
    with pytest.raises(DataError, match="Class 'class 2' of short has 1 image"):
        fit_to(PRESETS["folder"].settings, short)


def test_two_sizes_of_a_folder_are_two_data_sets(tmp_path, data_folder):
    """Neither takes the place of the other, so both runs can be evaluated."""
    own = tmp_path / "own"
    draw_classes(own, [4] * 8)
    settings = PRESETS["folder"].settings
    names = []
    for size in (16, 32, 84):
        sized = replace(settings, model=replace(settings.model, size=size))
        fitted = prepare_own("folder", sized, own, {"model.size"}).settings
        assert fitted.model.size == size, "84 pixels too, if they are asked for"
        names.append(fitted.data.name)
    assert names == ["folder-own-16px", "folder-own-32px", "folder-own-84px"]
    assert all((data_folder / name).exists() for name in names)


def test_data_that_an_earlier_version_prepared_is_found(tmp_path):
    """It was called after the folder alone; in another size it is not the same data."""
    own = tmp_path / "own"
    draw_classes(own, [4] * 8)
    prepare("folder", own, PrepareSettings(size=16), store_name="folder-own")
    assert folder_name(own, PrepareSettings(size=16)) == "folder-own"
    assert folder_name(own, PrepareSettings(size=32)) == "folder-own-32px"
    assert folder_name(own, PrepareSettings(size=16, colour="grey")) == "folder-own-16px-grey"
    elsewhere = tmp_path / "elsewhere" / "own"
    draw_classes(elsewhere, [4] * 8)
    assert folder_name(elsewhere, PrepareSettings(size=16)) == "folder-own-16px"
