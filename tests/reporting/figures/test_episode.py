"""Pictures of tasks come out as PNG for any numbers and with hostile names, and show the protocol's tasks."""

import numpy as np
import pytest
import torch

from samovar.evaluation.evaluator import Evaluator, training_dataset
from samovar.prediction.predictive import Prediction
from samovar.reporting.figures.episode import draw_task, episode_figure
from samovar.settings.tasks import Protocol


def test_drawn_tasks_are_those_of_the_protocol(trained):
    """Pooled queries are drawn as they are evaluated, even where no class has as many images as there are queries."""
    pooled = Protocol(3, 8, 70, pooled_queries=True, episodes=1, samples=5, quasi=True)
    evaluator = Evaluator(trained, training_dataset(trained, "test")).runner(pooled)
    assert draw_task(evaluator, pooled, 0).startswith(b"\x89PNG")


@pytest.mark.parametrize(("way", "channels", "deterministic"), [(2, 1, True), (5, 3, False)])
def test_episode_figure(way, channels, deterministic):
    rng = np.random.default_rng(0)
    labels = np.concatenate([np.arange(way), [0, 0]])
    probabilities = torch.rand(1, 7, way).softmax(-1)
    spread = None if deterministic else 0.1 * probabilities
    support = rng.integers(0, 256, (way + 2, 8, 8, channels), np.uint8)
    query = rng.integers(0, 256, (7, 8, 8, channels), np.uint8)
    names = ["$\\frac{1$", "a\nb", "<b>c</b>", "d" * 200, "e"][:way]
    prediction = Prediction(probabilities, torch.zeros(1, 7), spread)
    image = episode_figure(support, labels, query, rng.integers(0, way, 7), prediction, names)
    assert image.startswith(b"\x89PNG")
