"""Where the real archives are, and data and models that several rooms share."""

import os
from collections.abc import Callable
from pathlib import Path

import pytest
from helpers import make_store
from helpers_experiments import make_cells
from helpers_images import make_folder
from hypothesis import settings

from samovar.artifacts.saved_model import SavedModel, save_model
from samovar.cli.main import main
from samovar.data.dataset import Dataset
from samovar.data.normalization import Normalization
from samovar.experiments.cell import Cell
from samovar.models.few_shot_model import FewShotModel
from samovar.settings.model import ModelSettings

# New examples on developers' machines; the same ones every time where a change is judged.
settings.register_profile("ci", derandomize=True)
if os.environ.get("CI"):
    settings.load_profile("ci")

ARCHIVES = Path(
    os.environ.get("SAMOVAR_DATA_ARCHIVES", Path(__file__).parents[2] / "shared" / "data")
)


@pytest.fixture(autouse=True)
def data_folder(tmp_path_factory, monkeypatch) -> Path:
    """No test touches the user's data."""
    folder = tmp_path_factory.mktemp("data")
    monkeypatch.setenv("SAMOVAR_DATA", str(folder))
    return folder


@pytest.fixture(scope="session")
def archives() -> Callable[[str], Path]:
    """The path of a real archive, or a skip that says what is missing."""

    def locate(name: str) -> Path:
        path = ARCHIVES / name
        if not path.exists():
            pytest.skip(f"the real data {name} is not in {ARCHIVES} (set SAMOVAR_DATA_ARCHIVES)")
        return path

    return locate


@pytest.fixture(scope="session")
def toy(tmp_path_factory) -> Dataset:
    """Eleven classes of 7 to 27 images."""
    return Dataset(make_store(tmp_path_factory.mktemp("toy"), [7 + 2 * i for i in range(11)]))


@pytest.fixture
def toy_data(data_folder) -> Path:
    """Twelve classes of ten images whose shade tells the class."""
    names = [f"class {i}" for i in range(12)]
    split = {"train": names[:6], "val": names[6:9], "test": names[9:]}
    make_store(data_folder, [10] * 12, (12, 12, 3), split)
    return data_folder


@pytest.fixture
def trained(tmp_path, data_folder):
    """A model with its data: images of one class are alike, so that even an untrained network is above chance."""
    parts = {"train": range(4), "val": range(4, 11), "test": range(11, 20)}
    split = {part: [f"class {i}" for i in classes] for part, classes in parts.items()}
    store = make_store(data_folder, [12] * 11 + [60] * 9, (12, 12, 3), split)
    training = {"settings": {"data": {"name": "toy", "scheme": None, "rotations": False}}}
    saved = SavedModel(
        FewShotModel(ModelSettings(size=12, width=4)), Normalization.standard(store), training
    )
    save_model(saved, tmp_path / "run" / "model")
    return saved


@pytest.fixture
def task(tmp_path) -> Path:
    """A task of three characters, fitted by the shipped model."""
    make_folder(tmp_path / "support", {"one": 100, "two": 101, "three": 102}, 4)
    path = tmp_path / "t.safetensors"
    assert main(["fit", "--support", str(tmp_path / "support"), "--task", str(path)]) == 0
    return path


@pytest.fixture
def cells(data_folder) -> list[Cell]:
    """Two methods of two seeds each, with their data."""
    return make_cells(data_folder)
