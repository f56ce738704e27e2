"""The data of an evaluation: prepared data by name, a file of vectors, or that of the training."""

from pathlib import Path

from samovar.artifacts.saved_model import SavedModel
from samovar.artifacts.saved_regression import SavedRegression
from samovar.data.dataset import Dataset
from samovar.data.preparation import prepare, ready
from samovar.data.store import data_folder
from samovar.errors import DataError
from samovar.evaluation.evaluator import training_dataset
from samovar.reporting.progress_bar import progress_bar
from samovar.settings.data import PrepareSettings
from samovar.training.own_data import own_name

AnyModel = SavedModel | SavedRegression


def open_data(saved: AnyModel, name: str | None, split: str) -> Dataset:
    """Open the named data, or that of the training, and prepare it first if needed."""
    trained_on = saved.training.get("settings", {}).get("data", {}).get("name")
    if name is not None and Path(name).suffix.lower() == ".npz":
        name = _prepare_file(saved, Path(name))
    name = name or trained_on
    if name is None:
        raise DataError(
            "This model does not record which prepared data it was trained on. Name the data to "
            "evaluate on: --data NAME, or --data FILE.npz with vectors of `samovar embed`."
        )
    prepared = (data_folder() / name).exists()
    with progress_bar(f"preparing {name}", quiet=prepared) as progress:
        if name == trained_on:  # its classes are split as they were for the training
            return training_dataset(saved, split, progress)
        return Dataset(ready(name, progress), split)


def _prepare_file(saved: AnyModel, path: Path) -> str:
    """Prepare a file of vectors; return the name of the prepared data.

    A network may have been trained on a part of the file, so its classes are split as for the
    training. A regression has learned next to nothing of any class, so all are test classes,
    unless the file itself says how they are split.
    """
    name = own_name("features", path)
    settings = PrepareSettings()
    if isinstance(saved, SavedRegression):
        # A name of its own, since the data of a training must not change.
        name = own_name("evaluated", path)
        settings = PrepareSettings(fractions=(0, 0, 1))
    with progress_bar(f"preparing {name}") as progress:
        prepare("features", path, settings, store_name=name, progress=progress)
    return name
