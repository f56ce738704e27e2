"""Metrics are logged every so many updates, as means or as maxima over all tasks."""

from dataclasses import replace

import torch
from helpers_training import TINY

from samovar.core.processes import make_fabric
from samovar.data.batches import TaskBatch
from samovar.models.few_shot_model import FewShotModel
from samovar.models.noise import TaskNoise
from samovar.settings.model import ModelSettings
from samovar.settings.training import Devices
from samovar.training.run_folder import RunFolder
from samovar.training.stored_metrics import read_metrics
from samovar.training.trace import MAXIMA, Trace, UpdateMetrics


def test_every_second_update_and_the_last_are_logged(tmp_path):
    lines: list[dict] = []
    settings = replace(TINY, updates=5, trace_every=2)
    trace = Trace(make_fabric(Devices("cpu")), settings, RunFolder(tmp_path), lines.append)
    trace.start(1)
    for update in range(2, 6):
        trace.update(update, UpdateMetrics({"loss": torch.tensor(update / 2)}, share=1.0))
    trace.log({"update": 5, "validation_accuracy": 0.5})
    assert read_metrics(tmp_path / "metrics.jsonl") == lines
    assert [line["update"] for line in lines] == [2, 4, 5, 5]
    assert [line["loss"] for line in lines[:3]] == [1.0, 2.0, 2.5]
    assert all(line["images_per_second"] > 0 for line in lines[:3])
    assert lines[2]["seconds_left"] == 0


def test_means_are_weighted_by_the_share_of_the_tasks_and_maxima_are_not(tmp_path):
    lines: list[dict] = []
    trace = Trace(make_fabric(Devices("cpu")), TINY, RunFolder(tmp_path), lines.append)
    values = {"loss": torch.tensor(2.0), "largest_weight_variance": torch.tensor(3.0)}
    trace.update(1, UpdateMetrics(values, share=1.5))
    assert (lines[0]["loss"], lines[0]["largest_weight_variance"]) == (3.0, 3.0)


def test_the_maxima_of_the_model_are_known_by_name():
    """A linear classifier has both: the largest variance of its weights and of its biases."""
    settings = ModelSettings(backbone="identity", size=4, classifier="linear", samples=2)
    labels = torch.tensor([[0, 1]])
    images = torch.randn(1, 2, 4)
    batch = TaskBatch(images, labels, images, labels, way=2)
    output = FewShotModel(settings)(batch, TaskNoise(0, 0, range(1)))
    assert {name for name in output.metrics if name.startswith("largest")} == MAXIMA
