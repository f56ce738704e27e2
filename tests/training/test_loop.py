"""Training keeps the best, stops at a loss that is not finite, and uses no global randomness."""

from dataclasses import replace

import numpy as np
import pytest
import torch
from helpers_training import RESNET, TINY, weights
from hypothesis import given
from hypothesis import strategies as st
from safetensors.torch import load_file

from samovar.artifacts.saved_model import load_model
from samovar.errors import RunError
from samovar.evaluation.accuracy import measure_accuracy
from samovar.evaluation.evaluator import training_dataset
from samovar.evaluation.task_runner import TaskRunner
from samovar.settings.training import OptimizerSettings
from samovar.training.loop import tasks_of_rank
from samovar.training.run import train
from samovar.training.stored_metrics import read_metrics

pytestmark = pytest.mark.usefixtures("toy_data")


def test_a_loss_that_is_not_finite_stops_the_run(tmp_path):
    wild = replace(TINY, optimizer=OptimizerSettings("sgd", 1e30, schedule="constant"))
    with pytest.raises(
        RunError,
        match=r"not finite at update \d+ \(step size 1e\+30\). The last good checkpoint is",
    ):
        train(wild, tmp_path / "run")
    for path in (tmp_path / "run").rglob("*.safetensors"):
        assert all(torch.isfinite(tensor).all() for tensor in load_file(path).values())


def test_early_stopping_keeps_the_best(tmp_path):
    settings = replace(TINY, updates=40, validation=replace(TINY.validation, every=1, patience=3))
    lines: list[dict] = []
    train(settings, tmp_path / "run", watch=lines.append)
    accuracies = [line["validation_accuracy"] for line in lines if "validation_accuracy" in line]
    best = int(np.argmax(accuracies))
    assert len(accuracies) in (best + 4, 40)
    saved = load_model(tmp_path / "run" / "model")
    assert saved.training["figures"]["validation accuracy"].endswith(f"(update {best + 1})")
    evaluator = TaskRunner(
        saved.model, training_dataset(saved, "val"), saved.normalisation, torch.device("cpu")
    )
    assert measure_accuracy(evaluator, settings.validation.protocol(0)).mean == accuracies[best]
    again: list[dict] = []
    train(settings, tmp_path / "run", watch=again.append)
    assert not any("loss" in line for line in again), "a finished run is not trained on"


def test_patience_is_kept_over_a_stop(tmp_path):
    """Nothing is learned, so the first validation is the best and the fourth the last."""
    settings = replace(
        TINY,
        updates=40,
        checkpoint_every=1,
        optimizer=OptimizerSettings("sgd", 1e-30, momentum=0.0, schedule="constant"),
        model=replace(TINY.model, norm="episode"),
        validation=replace(TINY.validation, every=1, patience=3),
    )

    def stop(line: dict) -> None:
        if line.get("update") == 3:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        train(settings, tmp_path / "run", watch=stop)
    train(settings, tmp_path / "run")
    lines = read_metrics(tmp_path / "run" / "metrics.jsonl")
    assert len([line for line in lines if "validation_accuracy" in line]) == 4


def test_the_global_random_state_plays_no_part(tmp_path):
    for seed, name in ((1, "a"), (2, "b")):
        torch.manual_seed(seed)
        np.random.seed(seed)  # noqa: NPY002
        train(RESNET, tmp_path / name)
    assert weights(tmp_path / "a") == weights(tmp_path / "b")
    train(replace(RESNET, seed=1), tmp_path / "c")
    assert weights(tmp_path / "c") != weights(tmp_path / "a")


@given(st.integers(1, 40), st.data())
def test_ranks_share_the_tasks_in_blocks_as_even_as_possible(tasks, data):
    ranks = data.draw(st.integers(1, tasks))
    shares = [tasks_of_rank(tasks, rank, ranks) for rank in range(ranks)]
    assert [task for share in shares for task in share] == list(range(tasks))
    sizes = [len(share) for share in shares]
    assert max(sizes) - min(sizes) <= 1
