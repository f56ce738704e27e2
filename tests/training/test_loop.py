"""Training keeps the best, stops at a loss that is not finite, and uses no global randomness."""

import os
import signal
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch
from helpers_training import RESNET, TINY, events, stop_at, weights
from hypothesis import given
from hypothesis import strategies as st
from safetensors.torch import load_file

from samovar.artifacts.saved_model import load_model
from samovar.core.interrupts import Stopped
from samovar.errors import RunError
from samovar.evaluation.accuracy import measure_accuracy
from samovar.evaluation.evaluator import training_dataset
from samovar.evaluation.task_runner import TaskRunner
from samovar.settings.training import OptimizerSettings
from samovar.training import checkpoint_clock
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


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_stops_with_a_checkpoint_and_the_end_has_the_same_bits(
    number, tmp_path, toy_runs, capfd
):
    lines: list[dict] = []

    def signal_at_five(line: dict) -> None:
        lines.append(line)
        if line.get("update") == 5:
            os.kill(os.getpid(), number)

    with pytest.raises(Stopped) as stopped:
        train(TINY, tmp_path / "run", watch=signal_at_five)
    assert stopped.value.code == 128 + number
    assert "stopping after this update" in capfd.readouterr().err
    assert events(lines)[-1] == "stopped; a checkpoint was written after update 5"
    assert (tmp_path / "run" / "checkpoints" / "00000005.json").exists()
    lines.clear()
    train(TINY, tmp_path / "run", watch=lines.append)
    assert "resuming after update 5" in events(lines)
    assert weights(tmp_path / "run") == weights(toy_runs / "whole")
    assert timeless(tmp_path / "run") == timeless(toy_runs / "whole")
    last = "checkpoints/00000012.safetensors"
    whole = (toy_runs / "whole" / last).read_bytes()
    assert (tmp_path / "run" / last).read_bytes() == whole


def test_checkpoints_by_time_change_nothing_but_what_is_lost(tmp_path, toy_runs, monkeypatch):
    """With no time between checkpoints there is one after every update."""
    monkeypatch.setattr(checkpoint_clock, "INTERVAL", 0.0)
    with pytest.raises(KeyboardInterrupt):
        train(TINY, tmp_path / "run", watch=stop_at(8))
    kept = sorted(path.stem for path in (tmp_path / "run" / "checkpoints").glob("*.json"))
    assert kept == ["00000006", "00000007"]
    train(TINY, tmp_path / "run")
    assert weights(tmp_path / "run") == weights(toy_runs / "whole")
    assert timeless(tmp_path / "run") == timeless(toy_runs / "whole")


def timeless(run: Path) -> list[dict]:
    """The metrics of a run without those that depend on the clock."""
    lines = read_metrics(run / "metrics.jsonl")
    for line in lines:
        line.pop("images_per_second", None)
        line.pop("seconds_left", None)
    return lines
