"""Measured thresholds have their rates on other tasks of the shape."""

import numpy as np
import pytest
import torch
from helpers import noisy_store

from samovar.data.dataset import Dataset
from samovar.data.episodes import EpisodeSampler
from samovar.data.normalization import Normalization
from samovar.evaluation.rejection_thresholds import measure_rejection
from samovar.evaluation.task_runner import TaskRunner
from samovar.models.few_shot_model import FewShotModel
from samovar.prediction.rejection import COSINE_DISTANCE
from samovar.settings.model import ModelSettings
from samovar.settings.tasks import EpisodeSettings

CPU = torch.device("cpu")


def test_thresholds_for_rejection_have_their_rates_on_other_tasks_of_the_shape(tmp_path):
    """Quantiles of the distance of queries that belong: at a rate of 20 % about 20 % of new ones
    are above.
    """
    dataset = Dataset(noisy_store(tmp_path))
    model = FewShotModel(ModelSettings(size=12, width=8)).eval()
    evaluator = TaskRunner(model, dataset, Normalization.standard(dataset.store), CPU)
    table = measure_rejection(evaluator, seed=0)
    shapes = {(way, shot) for way in (1, 2, 3, 5) for shot in (1, 2, 5, 10, 20)}
    assert {(cell.way, cell.shot) for cell in table.cells} == shapes
    episodes = EpisodeSampler(dataset, EpisodeSettings(3, 2, 7), seed=1).draw(0, 100)
    query, means = evaluator.features(episodes.query), evaluator.class_means(episodes).means
    own = means.repeat_interleave(7, 1)  # seven queries of each class
    for way, distances in (
        (3, COSINE_DISTANCE(query, means)),
        (
            1,
            torch.stack(
                [COSINE_DISTANCE(query[:, i : i + 1], own[:, i : i + 1]) for i in range(21)]
            ),
        ),
    ):
        for rate in (0.5, 0.2, 0.1):
            threshold, cell = table.threshold(way, np.full(way, 2), rate)
            assert (cell.way, cell.shot) == (way, 2)
            assert (distances > threshold).float().mean().item() == pytest.approx(rate, abs=0.07)
