"""Two processes train and measure what one does."""

import json
import subprocess
import sys
from dataclasses import replace

import pytest
import torch
from helpers_training import RESNET, TINY, command
from safetensors.torch import load_file

from samovar.training.stored_metrics import read_metrics


@pytest.mark.slow
@pytest.mark.usefixtures("trained")
@pytest.mark.parametrize("norm", ["running", "episode"])
def test_two_processes_measure_what_one_does(tmp_path, norm):
    """Under running norm they share the embedding of the test images too (three chunks), not that
    of the few others.
    """
    flags = [
        "evaluate",
        str(tmp_path / "run"),
        "--way",
        "3",
        "--queries",
        "4",
        "--episodes",
        "45",
        "--samples",
        "20",
    ]
    flags += ["--norm", norm, "--sampling-study"]
    for launcher, out in (
        ((), "one"),
        (("-m", "torch.distributed.run", "--standalone", "--nproc_per_node", "2"), "two"),
    ):
        command = [sys.executable, *launcher, "-m", "samovar", *flags, "--out", str(tmp_path / out)]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr
    one, two = (
        json.loads((tmp_path / out / "evaluation.json").read_text()) for out in ("one", "two")
    )
    assert one["accuracy"]["mean"] == pytest.approx(two["accuracy"]["mean"], abs=1e-4)
    assert one["nll"]["mean"] == pytest.approx(two["nll"]["mean"], abs=1e-5)
    assert one["classes"] == two["classes"]
    for name, measure in one["uncertainty"].items():
        if measure is None:
            assert two["uncertainty"][name] is None
        else:
            assert measure["mean"] == pytest.approx(two["uncertainty"][name]["mean"], abs=1e-5)
    assert (one["uncertainty"]["distance"] is None) == (norm == "episode")
    temperatures = [each["predictive_tempered"]["temperature"] for each in (one, two)]
    assert temperatures[0] == pytest.approx(temperatures[1], rel=1e-3)
    one, two = (
        json.loads((tmp_path / out / "sampling.json").read_text()) for out in ("one", "two")
    )
    assert one["mean_classifier"]["accuracy"] == pytest.approx(
        two["mean_classifier"]["accuracy"], abs=1e-4
    )
    for ours, theirs in zip(one["results"], two["results"], strict=True):
        assert ours["error"] == pytest.approx(theirs["error"], rel=1e-3)


@pytest.mark.slow
@pytest.mark.parametrize("settings", [TINY, RESNET], ids=["conv", "resnet"])
@pytest.mark.usefixtures("toy_data")
def test_two_processes_do_what_one_does(settings, tmp_path):
    """Five tasks on two processes (gloo, by torchrun), episode norm: the same losses and
    parameters.

    By SGD: a bias that all classes share has no gradient but rounding, which Adam would blow up to
    whole steps.
    """
    sgd = replace(RESNET.optimizer, learning_rate=0.05)
    settings = replace(
        settings, tasks=5, updates=4, model=replace(settings.model, norm="episode"), optimizer=sgd
    )
    one = subprocess.run(
        command(settings, tmp_path / "one"), capture_output=True, text=True, check=False
    )
    assert one.returncode == 0, one.stderr
    launcher = ("-m", "torch.distributed.run", "--standalone", "--nproc_per_node", "2")
    two = subprocess.run(
        command(settings, tmp_path / "two", "--accelerator", "cpu", launcher=launcher),
        capture_output=True,
        text=True,
        check=False,
    )
    assert two.returncode == 0, two.stderr
    lines = [read_metrics(tmp_path / run / "metrics.jsonl") for run in ("one", "two")]
    assert len(lines[0]) == len(lines[1])
    for first, second in zip(*lines, strict=True):
        for name in set(first) & {"loss", "nll", "kl", "largest_weight_variance"}:
            assert first[name] == pytest.approx(second[name], rel=2e-3, abs=1e-4), name
    tensors = [
        load_file(sorted((tmp_path / run / "checkpoints").glob("*.safetensors"))[-1])
        for run in ("one", "two")
    ]
    for name, tensor in tensors[0].items():
        if name.startswith("model") and "running" not in name:
            torch.testing.assert_close(
                tensors[1][name],
                tensor,
                rtol=1e-3,
                atol=1e-5,
                msg=lambda text, name=name: f"{name}: {text}",
            )


@pytest.mark.slow
@pytest.mark.usefixtures("toy_data")
def test_more_processes_than_tasks_and_running_norm_on_cpus_are_refused(tmp_path):
    launcher = ("-m", "torch.distributed.run", "--standalone", "--nproc_per_node", "2")
    few = replace(TINY, tasks=1, model=replace(TINY.model, norm="episode"))
    for settings, words in (
        (few, "2 processes cannot share 1 tasks"),
        (TINY, "Use --model.norm episode"),
    ):
        failed = subprocess.run(
            command(settings, tmp_path / words[:5], "--accelerator", "cpu", launcher=launcher),
            capture_output=True,
            text=True,
            check=False,
        )
        assert failed.returncode != 0
        assert words in failed.stderr
