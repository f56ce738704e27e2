"""Narrow models of every kind, with batches of tasks and noise for them."""

import torch
from torch import nn
from torch.distributions import Normal

from samovar.data.batches import TaskBatch
from samovar.models.few_shot_model import FewShotModel
from samovar.models.inference import WeightDistribution
from samovar.models.noise import TaskNoise
from samovar.settings.model import ModelSettings

FEATURES = ModelSettings(backbone="identity", size=6)


CONV = ModelSettings(backbone="conv4", channels=1, size=16, width=8)


RESNET = ModelSettings(backbone="resnet12", classifier="cosine", size=16, width=4)


TEN = ModelSettings(
    backbone="resnet12",
    classifier="cosine",
    size=16,
    width=4,
    task_embedding=True,
    auxiliary_classes=7,
)


PROTOTYPES = ModelSettings(
    method="prototypes",
    backbone="conv4",
    classifier="squared",
    alpha=1.0,
    channels=1,
    size=16,
    width=8,
)


TADAM = ModelSettings(
    method="prototypes",
    backbone="resnet12",
    classifier="euclidean",
    alpha=7.5,
    size=16,
    width=4,
    task_embedding=True,
)


def batch_for(
    s: ModelSettings, tasks: int = 2, way: int = 3, shot: int = 2, queries: int = 4, seed: int = 0
) -> TaskBatch:
    generator = torch.Generator().manual_seed(seed)
    shape = (s.size,) if s.backbone == "identity" else (s.channels, s.size, s.size)
    support_labels = torch.arange(way).repeat_interleave(shot).repeat(tasks, 1)
    query_labels = torch.randint(way, (tasks, queries), generator=generator)
    support = torch.randn(tasks, way * shot, *shape, generator=generator)
    query = torch.randn(tasks, queries, *shape, generator=generator)
    return TaskBatch(support, support_labels, query, query_labels, way)


def noise_for(batch: TaskBatch, step: int = 0) -> TaskNoise:
    return TaskNoise(0, step, range(len(batch.support)))


def set_multipliers(model: FewShotModel, value: float) -> None:
    for multiplier in model.task_embedding.multipliers:
        nn.init.constant_(multiplier, value)


def count(*modules: nn.Module) -> int:
    return sum(parameter.numel() for module in modules for parameter in module.parameters())


def random_classifiers(
    seed: int = 0,
    tasks: int = 2,
    way: int = 3,
    d: int = 4,
    queries: int = 5,
    biases: bool = True,
    scale: float = 1.0,
):
    """A distribution over classifiers and query features."""
    g = torch.Generator().manual_seed(seed)

    def normal(*shape: int) -> Normal:
        return Normal(
            torch.randn(shape, generator=g), scale * torch.rand(shape, generator=g) + 1e-3 * scale
        )

    distribution = WeightDistribution(normal(tasks, way, d), normal(tasks, way) if biases else None)
    return distribution, torch.randn(tasks, queries, d, generator=g)
