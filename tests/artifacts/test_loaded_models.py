"""A model is read once, until its files change or others have taken its place."""

import shutil
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from helpers import image_model

from samovar.artifacts.loaded_models import LoadedModels
from samovar.artifacts.locate import SHIPPED
from samovar.artifacts.saved_model import save_model
from samovar.errors import ModelError
from samovar.models.backbones.conv import Conv
from samovar.models.few_shot_model import FewShotModel
from samovar.settings.model import ModelSettings


@pytest.fixture
def folder(tmp_path) -> Path:
    return save_model(image_model(), tmp_path / "model")


def test_a_model_is_read_once_by_any_number_of_threads(folder):
    loaded = LoadedModels()
    with ThreadPoolExecutor(8) as pool:
        models = list(pool.map(loaded.get, [folder] * 32))
    assert all(model is models[0] for model in models)
    assert loaded.get(folder / ".." / "model") is models[0], "the same folder by another path"


def test_a_model_that_was_written_again_is_read_again(folder):
    loaded = LoadedModels()
    first = loaded.get(folder)
    save_model(image_model(width=5), folder)
    second = loaded.get(folder)
    assert second is not first
    assert second.model.settings.width == 5
    shutil.rmtree(folder)
    with pytest.raises(ModelError, match="not a model folder that can be read"):
        loaded.get(folder)


def test_only_the_last_few_are_kept(tmp_path):
    loaded = LoadedModels(most=2)
    folders = [save_model(image_model(), tmp_path / str(number)) for number in range(3)]
    models = [loaded.get(path) for path in folders]
    assert loaded.get(folders[2]) is models[2]
    assert loaded.get(folders[1]) is models[1]
    assert loaded.get(folders[0]) is not models[0], "the one that was not asked for longest"


def test_loading_draws_no_initial_weights(monkeypatch):
    """They would be overwritten at once, and take most of the time."""
    drawn = []
    monkeypatch.setattr(Conv, "initialization", staticmethod(lambda layer, _: drawn.append(layer)))
    FewShotModel(ModelSettings(size=12, width=4))
    assert len(drawn) == 4, "a new model draws those of all convolutions"
    drawn.clear()
    LoadedModels().get(SHIPPED / "cifar_fs")
    assert not drawn
