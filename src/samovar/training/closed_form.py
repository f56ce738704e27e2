"""Training of the closed form: ten numbers, learned over tasks of several collections of images.

Each update draws a few tasks of random ways and shots from random collections and follows the
gradient of the queries' negative log-likelihood. It is divided by log N, the likelihood of a guess,
so that tasks of many classes do not drown the others. Several collections matter more than many
images: what is learned from one kind of photograph alone is too sure of another kind.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import torch

from samovar.core.progress import Progress, silent
from samovar.core.randomness import generator
from samovar.data.collections import VectorCollection, VectorTask
from samovar.errors import SettingsError
from samovar.models.closed_form import ClosedForm


@dataclass(frozen=True)
class ClosedFormSettings:
    """How the closed form is trained."""

    updates: int = 500
    """Updates by Adam."""
    tasks: int = 4
    """Tasks in an update."""
    learning_rate: float = 0.03
    """First step size; it falls linearly to a hundredth."""
    most_way: int = 25
    """The largest number of classes of a task; the smallest is 2."""
    shots: tuple[int, ...] = (1, 2, 3, 5, 8, 10)
    """Images of each class, one of these for each task."""
    queries: int = 10
    """Query images of each class."""
    power: float = 0.5
    """The power that vectors are raised to."""
    spread: float = 0.3
    """The standard deviation of the log temperature of a task."""
    seed: int = 0
    """Every random number is a function of this seed."""

    def __post_init__(self) -> None:
        if self.updates < 1 or self.tasks < 1 or self.queries < 1:
            raise SettingsError("--updates, --tasks and --queries must be at least 1.")
        if self.most_way < 2 or not self.shots or min(self.shots) < 1:
            raise SettingsError("--most-way must be at least 2, and --shots at least 1.")


def train_closed_form(
    collections: Sequence[VectorCollection],
    settings: ClosedFormSettings | None = None,
    progress: Progress = silent,
) -> ClosedForm:
    """Learn the hyper-parameters of the closed form over tasks of these collections."""
    settings = settings or ClosedFormSettings()
    if not collections:
        raise SettingsError("Training needs at least one collection of vectors.")
    model = ClosedForm(settings.power, settings.spread)
    optimizer = torch.optim.Adam(model.parameters(), settings.learning_rate)
    for update in range(settings.updates):
        remaining = 1 - update / settings.updates
        for group in optimizer.param_groups:
            group["lr"] = settings.learning_rate * max(0.01, remaining)
        loss = torch.zeros((), dtype=torch.float64)
        for task in range(settings.tasks):
            number = update * settings.tasks + task
            loss = loss + task_loss(model, draw_task(collections, settings, number))
        optimizer.zero_grad()
        (loss / settings.tasks).backward()
        optimizer.step()
        progress("updates", (update + 1) / settings.updates)
    return model.requires_grad_(False)


def draw_task(
    collections: Sequence[VectorCollection], settings: ClosedFormSettings, number: int
) -> VectorTask:
    """Draw task `number`: a collection, ways and shots at random; ways evenly in their log."""
    noise = generator(settings.seed, "closed form shape", number)
    collection = collections[int(noise.integers(len(collections)))]
    most_way = min(settings.most_way, len(collection.classes))
    way = int(math.exp(noise.uniform(math.log(2), math.log(most_way + 1))))
    shot = int(noise.choice(settings.shots))
    key = (settings.seed, "closed form task", number)
    return collection.task(way, shot, settings.queries, key=key)


def task_loss(model: ClosedForm, task: VectorTask) -> torch.Tensor:
    """Return the mean negative log-likelihood of the queries, relative to that of a guess."""
    regression = model.infer(task.support, task.support_labels, task.way)
    probabilities = regression.probabilities(task.query)
    at_label = probabilities.gather(1, task.query_labels[:, None]).squeeze(1)
    return -at_label.clamp(min=1e-12).log().mean() / math.log(task.way)
