"""What a training run needs before its first update: data that fits, and a model to start from.

Everything that can be refused is refused here, before any long work is done.
"""

import copy
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

import torch
from torch import nn

from samovar.artifacts.locate import locate_model
from samovar.artifacts.saved_model import load_network
from samovar.artifacts.weights import check_buildable
from samovar.core.randomness import generator
from samovar.data.dataset import Dataset
from samovar.data.episodes import EpisodeSampler
from samovar.data.normalization import Normalization
from samovar.data.store import Store
from samovar.errors import DataError, RunError
from samovar.evaluation.task_runner import check_input
from samovar.models.backbones.registry import OUR_BACKBONES
from samovar.models.few_shot_model import FewShotModel
from samovar.settings.training import TrainSettings


@dataclass(frozen=True)
class RunData:
    """The three splits of a run's data, and how images enter the network."""

    store: Store
    train: Dataset
    validation: Dataset
    test: Dataset
    normalisation: Normalization

    @classmethod
    def open(cls, settings: TrainSettings, store: Store) -> "RunData":
        """Open the splits, and refuse data on which this run could not be trained or tested."""
        data = settings.data
        train = Dataset(store, "train", scheme=data.scheme, rotations=data.rotations)
        check_shape(settings, train)
        opened = cls(
            store, train, train.part("val"), train.part("test"), _normalisation(settings, train)
        )
        # Samplers are made only to refuse a split with too few classes or images for its tasks.
        EpisodeSampler(train, settings.episodes, settings.seed)
        measured = settings.validation.protocol(settings.seed).tasks
        for split in (opened.validation, opened.test):
            EpisodeSampler(split, measured, settings.seed)
        return opened


def _normalisation(settings: TrainSettings, dataset: Dataset) -> Normalization:
    standard = Normalization.standard(dataset.store, settings.data.scheme)
    if settings.data.normalisation == "standard":
        return standard
    # "unit" only divides images by 255, so that numbers are from 0 to 1.
    channels = len(standard.mean)
    return Normalization((0.0,) * channels, (1.0,) * channels, standard.scale)


def check_world(settings: TrainSettings, world: int, device: torch.device) -> None:
    """Refuse a number of processes that cannot do the work of one."""
    if world > settings.tasks:
        raise RunError(
            f"{world} processes cannot share {settings.tasks} tasks. "
            "Use fewer processes, or more --tasks."
        )
    if world > 1 and settings.model.norm == "running" and device.type == "cpu":
        raise RunError(
            "Running batch norm needs the statistics of the whole batch, which torch shares "
            "between GPUs but not between CPU processes. Use --model.norm episode, or one process."
        )


def check_shape(settings: TrainSettings, dataset: Dataset) -> None:
    """Refuse data that the model cannot take."""
    shape = tuple(dataset.store.facts["shape"])
    outputs = settings.model.auxiliary_classes
    if 0 < outputs < len(dataset):
        raise RunError(
            f"The auxiliary task distinguishes all {len(dataset)} classes of "
            f"{dataset.description}, but its head has {outputs} outputs. "
            f"Use --model.auxiliary-classes {len(dataset)}."
        )
    if dataset.rotations and len(shape) != 3:
        raise RunError(
            f"{dataset.store.name} holds vectors, which cannot be rotated. Use --data.no-rotations."
        )
    try:
        check_input(settings.model, dataset)
    except DataError as error:
        flags = f"--model.size {shape[0]}"
        if len(shape) == 3:
            flags += f" --model.channels {shape[2]}"
        raise RunError(f"{error} Use {flags}.") from error


def build_model(
    kind: type[FewShotModel], settings: TrainSettings, backbone: nn.Module | None
) -> FewShotModel:
    """Return an untrained model whose weights are a function of the seed, even a subclass's own.

    FewShotModel draws its weights by itself. A subclass may add modules that draw theirs from
    torch's global state, which is therefore seeded here and restored afterwards.
    """
    if backbone is None and settings.model.backbone in OUR_BACKBONES:
        check_buildable(settings.model)
    with torch.random.fork_rng(devices=[]):
        noise = generator(settings.seed, "own model")
        # The CPU's generator alone: torch.manual_seed would seed the GPUs', which are not forked.
        torch.default_generator.manual_seed(int(noise.integers(2**62)))
        return kind(settings.model, backbone, settings.seed)


class Start(NamedTuple):
    """Where a model's first weights come from."""

    message: str
    """What to tell the user."""
    identity: str
    """The identity of the model they were taken from."""


def start_from(model: FewShotModel, init: str | Path, backbone: nn.Module | None = None) -> Start:
    """Take every tensor that fits from a model: a shipped one, a run folder or a model folder.

    `backbone` is a module like the one that the stored model was trained with.
    """
    saved = load_network(locate_model(init), copy.deepcopy(backbone), type(model))
    source = saved.model.state_dict()
    target = model.state_dict()
    fitting = {}
    for name, tensor in source.items():
        if name in target and target[name].shape == tensor.shape:
            fitting[name] = tensor
    # A model of ready-made features has no backbone tensors, and needs none.
    needs_backbone = _has_backbone(target)
    if not fitting or (needs_backbone and not _has_backbone(fitting)):
        raise RunError(f"The feature extractor of {init} does not fit this model.")
    model.load_state_dict(target | fitting)
    message = f"started from {init}: {len(fitting)} of {len(target)} tensors taken"
    return Start(message, saved.identity)


def _has_backbone(tensors: dict[str, torch.Tensor]) -> bool:
    return any(name.startswith("backbone.") for name in tensors)
