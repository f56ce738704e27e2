"""A model is found by its name, its folder or the hub, and has an evaluation folder of its own."""

from pathlib import Path

import pytest
from helpers import features_model

from samovar import SavedModel
from samovar.artifacts.locate import evaluation_folder, locate_model
from samovar.errors import ModelError


def test_models_by_name_folder_and_hub(tmp_path, monkeypatch):
    assert SavedModel.from_pretrained("glyphs").model.settings.channels == 1
    with pytest.raises(ModelError, match="glyphs"):
        SavedModel.from_pretrained("no such model")
    monkeypatch.setitem(__import__("sys").modules, "huggingface_hub", None)
    with pytest.raises(ModelError, match="pip install huggingface_hub"):
        SavedModel.from_pretrained("someone/something")
    folder = features_model(3).save_pretrained(tmp_path / "m")
    assert {path.name for path in folder.iterdir()} == {
        "config.json",
        "model.safetensors",
        "README.md",
    }
    assert SavedModel.from_pretrained(folder).identity == features_model(3).identity


def test_every_model_has_its_own_evaluation_folder():
    assert evaluation_folder(Path("runs/glyphs/model")) == Path("runs/glyphs/evaluation")
    assert evaluation_folder(Path("models/mine")) == Path("models/mine/evaluation")
    assert evaluation_folder(locate_model("glyphs")) == Path("evaluation/glyphs")


def test_a_name_that_is_nearly_right_is_recognised():
    with pytest.raises(ModelError, match=r"Did you mean cifar_fs\?"):
        locate_model("cifar-fs")
