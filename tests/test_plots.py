"""Pictures come out as PNG for any number of classes, shots and queries, and with hostile names."""

import numpy as np
import pytest
import torch

from samovar.plots import episode_figure
from samovar.predictive import Prediction


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
