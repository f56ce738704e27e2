"""Evaluations of other splits of the same images are not compared."""

import json
from dataclasses import replace
from pathlib import Path

from helpers import make_store

from samovar.artifacts.saved_model import SavedModel, save_model
from samovar.cli.main import main
from samovar.data.normalization import Normalization
from samovar.data.store import Contents
from samovar.data.store_writer import write_store
from samovar.models.few_shot_model import FewShotModel
from samovar.settings.model import ModelSettings


def two_schemes(folder: Path, model: Path) -> SavedModel:
    """A model trained by the second of two splits of the same images."""
    names = [f"class {i}" for i in range(8)]
    store = make_store(
        folder,
        [12] * 8,
        (12, 12, 3),
        {"train": names[:2], "val": names[2:4], "test": names[4:]},
        "schemes",
    )
    splits = store.facts["splits"] | {
        "other": {"train": names[6:], "val": names[4:6], "test": names[:4]}
    }
    contents = Contents(
        store.classes,
        (12, 12, 3),
        lambda position: store.array[12 * position : 12 * position + 12],
        splits,
    )
    store = write_store("schemes", {"licence": "none"}, contents, folder)
    training = {"settings": {"data": {"name": "schemes", "scheme": "other", "rotations": False}}}
    saved = SavedModel(
        FewShotModel(ModelSettings(size=12, width=4)), Normalization.standard(store), training
    )
    save_model(saved, model)
    return saved


def test_other_splits_of_the_same_images_are_other_data(tmp_path, data_folder, capsys, monkeypatch):
    saved = two_schemes(data_folder, tmp_path / "first")
    first_scheme = replace(
        saved,
        training={"settings": {"data": {"name": "schemes", "scheme": None, "rotations": False}}},
    )
    save_model(first_scheme, tmp_path / "second")
    flags = ["--way", "2", "--queries", "3", "--episodes", "5", "--samples", "5"]
    monkeypatch.chdir(tmp_path)
    for arguments in (["first"], ["first", "--data", "schemes", "--out", "named"], ["second"]):
        assert main(["evaluate", *arguments, *flags]) == 0
    assert "schemes (test of other, 4 classes)" in " ".join(capsys.readouterr().out.split())
    same, named = (
        json.loads((tmp_path / f / "evaluation.json").read_text())
        for f in ("first/evaluation", "named")
    )
    assert same == named, "the model's own data by name is split as it was trained"
    assert main(["compare", "first", "named"]) == 0
    assert main(["compare", "first", "second"]) == 2
    assert "data or its split" in capsys.readouterr().err
