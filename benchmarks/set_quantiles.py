"""Measure the quantiles for sets at one shot of a model that was made before they were measured.

    python benchmarks/set_quantiles.py FOLDER --vectors caltech.npz cub.npz ...   # like photos
    python benchmarks/set_quantiles.py FOLDER --data omniglot                     # a network

`samovar train` and benchmarks/photos_model.py do it by themselves. FOLDER is a model folder, whose
config.json gets the quantiles, and whose card is written anew. The data of a network are those that
it was trained on: tasks are drawn from their validation classes.
"""

from dataclasses import dataclass, replace
from pathlib import Path

import torch
import tyro

from samovar.artifacts.saved_model import SavedModel, load_model
from samovar.artifacts.saved_regression import SavedRegression
from samovar.data.collections import VectorCollection
from samovar.data.dataset import Dataset
from samovar.data.preparation import ready
from samovar.evaluation.task_runner import TaskRunner
from samovar.evaluation.transferred_quantiles import (
    measure_quantiles,
    measure_regression_quantiles,
)
from samovar.models.backbones.layers import set_norm
from samovar.prediction.transferred_quantiles import TransferredQuantiles


@dataclass(frozen=True)
class Arguments:
    """What to measure."""

    folder: tyro.conf.Positional[Path]
    """A model folder."""
    vectors: tuple[Path, ...] = ()
    """Files of vectors, one for each collection."""
    names: tuple[str, ...] = ()
    """What the collections are called; the names of the files if not given."""
    data: str | None = None
    """The prepared data of a network."""
    seed: int = 0


def of_regression(saved: SavedRegression, arguments: Arguments) -> TransferredQuantiles | None:
    """Measure on tasks of collections of vectors."""
    collections = [VectorCollection.read(path) for path in arguments.vectors]
    if arguments.names:
        pairs = zip(collections, arguments.names, strict=True)
        collections = [replace(collection, name=name) for collection, name in pairs]
    return measure_regression_quantiles(saved.model, collections, arguments.seed)


def of_network(saved: SavedModel, arguments: Arguments) -> TransferredQuantiles | None:
    """Measure on tasks of the validation classes, with the batch norm of single images."""
    if arguments.data is None:
        raise SystemExit("Name the data that the network was trained on with --data.")
    set_norm(saved.model, "running")
    dataset = Dataset(ready(arguments.data), "val")
    runner = TaskRunner(saved.model, dataset, saved.normalisation, torch.device("cpu"))
    runner.calibration = saved.calibration
    return measure_quantiles(runner, arguments.seed)


def main() -> None:
    """Measure, and write the folder again."""
    arguments = tyro.cli(Arguments, description=__doc__)
    saved = load_model(arguments.folder)
    if isinstance(saved, SavedRegression):
        quantiles = of_regression(saved, arguments)
    else:
        quantiles = of_network(saved, arguments)
    if quantiles is None:
        raise SystemExit("These data allow no task with one image of each class.")
    replace(saved, set_quantiles=quantiles).save_pretrained(arguments.folder)
    for cell in quantiles.cells:
        print(cell.way, [round(value, 4) for value in cell.thresholds])


if __name__ == "__main__":
    main()
