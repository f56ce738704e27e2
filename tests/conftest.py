"""Where the real archives are, and data and models that several rooms share."""

import os
import shutil
import signal
from collections.abc import Callable, Iterator
from pathlib import Path

# Tests are shared between processes, one for each core; more threads would only get in each
# other's way. Set before torch is imported.
os.environ.setdefault("OMP_NUM_THREADS", "1")

import pytest
from helpers import make_store
from helpers_experiments import make_cells
from helpers_images import make_folder
from helpers_training import TINY, make_toy_data, stop_at
from hypothesis import settings

from samovar.artifacts.saved_model import SavedModel, save_model
from samovar.cli.main import main
from samovar.data.dataset import Dataset
from samovar.data.normalization import Normalization
from samovar.experiments.cell import Cell
from samovar.models.few_shot_model import FewShotModel
from samovar.settings.model import ModelSettings

# A shell starts its background jobs with Ctrl-C ignored, but tests send it to themselves.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)

# No test asserts a time, so examples have no deadline: a busy machine is no failure. There are new
# examples on developers' machines, and the same ones every time where a change is judged.
settings.register_profile("development", deadline=None)
settings.register_profile("ci", deadline=None, derandomize=True)
settings.load_profile("ci" if os.environ.get("CI") else "development")

ARCHIVES = Path(
    os.environ.get("SAMOVAR_DATA_ARCHIVES", Path(__file__).parents[2] / "shared" / "data")
)


@pytest.fixture(autouse=True)
def data_folder(tmp_path_factory, monkeypatch) -> Path:
    """No test touches the user's data."""
    folder = tmp_path_factory.mktemp("data")
    monkeypatch.setenv("SAMOVAR_DATA", str(folder))
    return folder


@pytest.fixture(autouse=True)
def cache_folder(tmp_path_factory, monkeypatch) -> Path:
    """Return the cache of the test, so that no test touches the user's."""
    folder = tmp_path_factory.mktemp("cache")
    monkeypatch.setenv("SAMOVAR_CACHE", str(folder))
    return folder


@pytest.fixture(scope="session", autouse=True)
def common_cache(tmp_path_factory) -> Iterator[None]:
    """Fixtures of whole modules and sessions run before `cache_folder`; nor do they touch it."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("SAMOVAR_CACHE", str(tmp_path_factory.mktemp("common-cache")))
        yield


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
    make_toy_data(data_folder)
    return data_folder


@pytest.fixture(scope="session")
def toy_runs(tmp_path_factory) -> Path:
    """Runs of TINY on the toy data: `whole` is finished, `stopped` was stopped after update 8."""
    from samovar.training.run import train

    folder = tmp_path_factory.mktemp("runs")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("SAMOVAR_DATA", str(folder / "data"))
        make_toy_data(folder / "data")
        train(TINY, folder / "whole")
        with pytest.raises(KeyboardInterrupt):
            train(TINY, folder / "stopped", watch=stop_at(8))
    return folder


@pytest.fixture
def finished(toy_runs, tmp_path) -> Path:
    """A copy of a finished run."""
    return shutil.copytree(toy_runs / "whole", tmp_path / "finished")


@pytest.fixture
def stopped(toy_runs, tmp_path) -> Path:
    """A copy of a run that was stopped after update 8, with checkpoints of updates 3 and 6."""
    return shutil.copytree(toy_runs / "stopped", tmp_path / "stopped")


@pytest.fixture
def trained(tmp_path, data_folder):
    """A model with its data: images of one class are alike, so that even an untrained network is
    above chance.
    """
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
    assert (
        main(
            [
                "fit",
                "--model",
                "glyphs",
                "--support",
                str(tmp_path / "support"),
                "--task",
                str(path),
            ]
        )
        == 0
    )
    return path


@pytest.fixture
def cells(data_folder) -> list[Cell]:
    """Two methods of two seeds each, with their data."""
    return make_cells(data_folder)
