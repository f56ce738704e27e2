"""One task with what a model believes of it, as a picture."""

import numpy as np
import torch

from samovar.data.episodes import EpisodeSampler
from samovar.evaluation.task_runner import TaskEvaluator
from samovar.reporting.figures.plots import episode_figure
from samovar.settings.config import Protocol

SHOWN = 12
"""Queries in a picture."""


def draw_task(evaluator: TaskEvaluator, protocol: Protocol, number: int) -> bytes:
    """A task of the protocol: support images, and the probabilities that the model gives to a dozen of its queries."""
    dataset = evaluator.dataset
    episodes = EpisodeSampler(dataset, protocol.tasks, protocol.seed).draw(number, 1)
    prediction = evaluator.answer(episodes, number, protocol.samples, protocol.seed, quasi=protocol.quasi)
    queries = episodes.query.shape[1]
    shown = np.linspace(0, queries - 1, min(SHOWN, queries)).astype(int)  # of all classes: they come class by class
    support, query = (dataset.gather(indices).numpy() for indices in (episodes.support[0], episodes.query[0, shown]))
    names = [dataset.class_names[position] for position in episodes.classes[0]]
    labels, seen = episodes.query_labels[0, shown], prediction.of_queries(torch.from_numpy(shown))
    return episode_figure(support, episodes.support_labels[0], query, labels, seen, names)
