"""What a training run needs before its first update: data that fits, a model to start from."""

import copy
from pathlib import Path
from typing import NamedTuple

import torch
from torch import nn

from samovar.artifacts.saved_model import load_model
from samovar.data.dataset import Dataset
from samovar.data.normalization import Normalization
from samovar.data.preparation import ready
from samovar.data.store import Store
from samovar.errors import DataError, RunError
from samovar.evaluation.task_runner import check_input
from samovar.models.few_shot_model import FewShotModel
from samovar.settings.training import TrainSettings


def store_dataset(settings: TrainSettings, split: str, store: Store | None = None) -> Dataset:
    """A part of the run's data."""
    data = settings.data
    return Dataset(store or ready(data.name), split, scheme=data.scheme, rotations=data.rotations)


def normalisation_of(settings: TrainSettings, dataset: Dataset) -> Normalization:
    """How images enter the network."""
    standard = Normalization.standard(dataset.store, settings.data.scheme)
    if settings.data.normalisation == "standard":
        return standard
    channels = len(standard.mean)
    return Normalization((0.0,) * channels, (1.0,) * channels, standard.scale)


def check_world(settings: TrainSettings, world: int, device: torch.device) -> None:
    """Refuse a number of processes that cannot do the work of one."""
    if world > settings.tasks:
        raise RunError(
            f"{world} processes cannot share {settings.tasks} tasks. Use fewer processes, or more --tasks."
        )
    if world > 1 and settings.model.norm == "running" and device.type == "cpu":
        raise RunError(
            "Running batch norm needs statistics of the whole batch, which torch shares between GPUs but not between "
            "CPU processes. Use --model.norm episode, or one process."
        )


def check_shape(settings: TrainSettings, dataset: Dataset) -> None:
    """Refuse data that the model cannot take."""
    shape, model = tuple(dataset.store.facts["shape"]), settings.model
    classes = len(dataset)
    if 0 < model.auxiliary_classes < classes:
        raise RunError(
            f"The auxiliary task tells all classes of {dataset.description} apart, but has "
            f"{model.auxiliary_classes} answers. Use --model.auxiliary-classes {classes}."
        )
    if dataset.rotations and len(shape) != 3:
        raise RunError(
            f"{dataset.store.name} holds vectors, which cannot be turned. Use --data.no-rotations."
        )
    try:
        check_input(model, dataset)
    except DataError as error:
        flags = f"--model.size {shape[0]}" + (
            f" --model.channels {shape[2]}" if len(shape) == 3 else ""
        )
        raise RunError(f"{error} Use {flags}.") from error


class Start(NamedTuple):
    """Where a model's first weights are from."""

    sentence: str
    identity: str


def start_from(model: FewShotModel, folder: Path, backbone: nn.Module | None = None) -> Start:
    """Take every tensor that fits from a model folder; `backbone` is a module like the one it was trained with."""
    saved = load_model(folder, copy.deepcopy(backbone))
    source, target = saved.model.state_dict(), model.state_dict()
    fitting = {
        name: tensor
        for name, tensor in source.items()
        if name in target and target[name].shape == tensor.shape
    }
    needed = any(name.startswith("backbone") for name in target)  # ready-made features have none
    if not fitting or (needed and not any(name.startswith("backbone") for name in fitting)):
        raise RunError(f"The feature extractor in {folder} does not fit this model.")
    model.load_state_dict(target | fitting)
    return Start(
        f"started from {folder}: {len(fitting)} of {len(target)} tensors taken", saved.identity
    )
