"""Reliability: stop anywhere and end with the same bits; several processes as one; nothing lost, nothing silent."""

import dataclasses
import json
import random
import re
import shutil
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch
from conftest import make_store
from safetensors.torch import load_file, save_file

from samovar.cli import main
from samovar.config import AugmentationSettings, EpisodeSettings, ModelSettings
from samovar.errors import DataError, ModelError, RunError, SamovarError
from samovar.evaluation import measure_accuracy, training_dataset
from samovar.model_folder import load_model
from samovar.models.model import FewShotModel
from samovar.optimisation import decay_and_clip, decays, has_auxiliary_step, step_size
from samovar.run_config import DataSettings, OptimizerSettings, TrainSettings, ValidationSettings
from samovar.run_folder import read_metrics
from samovar.task_evaluator import TaskEvaluator
from samovar.training import train

TINY = TrainSettings(
    data=DataSettings("toy"),
    model=ModelSettings(backbone="conv4", size=12, width=4, dropout=0.3, samples=3),
    episodes=EpisodeSettings(3, 2, 3),
    tasks=2,
    updates=12,
    augmentation=AugmentationSettings(flip=True, crop_padding=1, jitter=0.2),
    validation=ValidationSettings(every=4, tasks=4, way=3, queries=3, samples=4, test_tasks=4, test_samples=4),
    checkpoint_every=3,
    trace_every=1,
)
RESNET = replace(
    TINY,
    model=ModelSettings(
        backbone="resnet12", classifier="cosine", size=12, width=4, samples=3, task_embedding=True, auxiliary_classes=6
    ),
    optimizer=OptimizerSettings("sgd", 0.05, schedule="drops", drops=(6,), clip=0.1, decay_extractor=5e-4),
)


@pytest.fixture(autouse=True)
def toy_data(data_folder) -> Path:
    """Twelve classes of ten images whose shade tells the class."""
    names = [f"class {i}" for i in range(12)]
    split = {"train": names[:6], "val": names[6:9], "test": names[9:]}
    make_store(data_folder, [10] * 12, (12, 12, 3), split)
    return data_folder


def weights(folder: Path) -> bytes:
    return (folder / "model" / "model.safetensors").read_bytes()


def command(settings: TrainSettings, out: Path, *more: str, launcher: tuple[str, ...] = ()) -> list[str]:
    """The command line that trains these settings, with a flag for each field."""
    flags: list[str] = []

    def add(value: object, prefix: str) -> None:
        for field in dataclasses.fields(value):
            name, each = f"{prefix}{field.name}".replace("_", "-"), getattr(value, field.name)
            if dataclasses.is_dataclass(each):
                add(each, f"{name}.")
            elif isinstance(each, bool):
                flags.append(f"--{name}" if each else "--{}no-{}".format(*re.match(r"(.*\.)?(.*)", name).groups("")))
            elif isinstance(each, tuple):
                flags.extend([f"--{name}", *map(str, each)])
            else:
                flags.extend([f"--{name}", str(each)])

    add(settings, "")
    return [sys.executable, *launcher, "-m", "samovar", "train", "glyphs", *flags, "--out", str(out), *more]


@pytest.mark.parametrize("settings", [TINY, RESNET], ids=["conv", "resnet"])
def test_killed_at_random_moments_it_ends_with_the_same_bits(settings, tmp_path):
    """kill -9 after a random number of lines of output, again and again until the run is through."""
    reference = subprocess.run(command(settings, tmp_path / "whole"), capture_output=True, text=True, check=False)
    assert reference.returncode == 0, reference.stderr
    dice, kills = random.Random(0), 0
    while True:
        process = subprocess.Popen(command(settings, tmp_path / "killed"), stderr=subprocess.PIPE, text=True)
        for _ in range(dice.randint(4, 9)):
            line = process.stderr.readline()
        if not line or kills == 3:
            break
        process.kill()
        process.communicate()
        kills += 1
    process.communicate()
    assert process.returncode == 0
    assert kills >= 2
    assert weights(tmp_path / "killed") == weights(tmp_path / "whole")
    last = [sorted((tmp_path / run / "checkpoints").glob("*.safetensors"))[-1] for run in ("killed", "whole")]
    assert last[0].name == last[1].name == "00000012.safetensors"
    assert last[0].read_bytes() == last[1].read_bytes()
    timeless = [
        [
            {k: v for k, v in line.items() if k not in ("images_per_second", "seconds_left")}
            for line in read_metrics(tmp_path / run / "metrics.jsonl")
        ]
        for run in ("killed", "whole")
    ]
    assert timeless[0] == timeless[1]


@pytest.mark.parametrize("settings", [TINY, RESNET], ids=["conv", "resnet"])
def test_two_processes_do_what_one_does(settings, tmp_path):
    """Five tasks on two processes (gloo, by torchrun), episode norm: the same losses and parameters.

    By SGD: a bias that all classes share has no gradient but rounding, which Adam would blow up to whole steps.
    """
    sgd = replace(RESNET.optimizer, learning_rate=0.05)
    settings = replace(settings, tasks=5, updates=4, model=replace(settings.model, norm="episode"), optimizer=sgd)
    one = subprocess.run(command(settings, tmp_path / "one"), capture_output=True, text=True, check=False)
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
    tensors = [load_file(sorted((tmp_path / run / "checkpoints").glob("*.safetensors"))[-1]) for run in ("one", "two")]
    for name, tensor in tensors[0].items():
        if name.startswith("model") and "running" not in name:
            torch.testing.assert_close(
                tensors[1][name], tensor, rtol=1e-3, atol=1e-5, msg=lambda text, name=name: f"{name}: {text}"
            )


def test_more_processes_than_tasks_and_running_norm_on_cpus_are_refused(tmp_path):
    launcher = ("-m", "torch.distributed.run", "--standalone", "--nproc_per_node", "2")
    few = replace(TINY, tasks=1, model=replace(TINY.model, norm="episode"))
    for settings, words in ((few, "2 processes cannot share 1 tasks"), (TINY, "Use --model.norm episode")):
        failed = subprocess.run(
            command(settings, tmp_path / words[:5], "--accelerator", "cpu", launcher=launcher),
            capture_output=True,
            text=True,
            check=False,
        )
        assert failed.returncode != 0
        assert words in failed.stderr


def stop_at(update: int):
    def watch(line: dict) -> None:
        if line.get("update") == update:
            raise KeyboardInterrupt

    return watch


def test_a_damaged_checkpoint_is_noticed_and_the_one_before_is_used(tmp_path):
    run = tmp_path / "run"
    with pytest.raises(KeyboardInterrupt):
        train(TINY, run, watch=stop_at(8))
    newest = sorted((run / "checkpoints").glob("*.safetensors"))[-1]
    content = bytearray(newest.read_bytes())
    content[-1] ^= 1
    newest.write_bytes(content)
    said: list[dict] = []
    train(TINY, run, watch=said.append)
    events = [line["event"] for line in said if "event" in line]
    assert events[0] == "00000006.json is damaged (its checksum is wrong) and is passed over"
    assert events[1] == "going on after update 3"
    train(TINY, tmp_path / "whole")
    assert weights(run) == weights(tmp_path / "whole")
    assert len(list((run / "checkpoints").glob("*.json"))) == 2


def test_without_a_whole_checkpoint_it_starts_again_and_keeps_the_new_ones(tmp_path):
    run = tmp_path / "run"
    with pytest.raises(KeyboardInterrupt):
        train(TINY, run, watch=stop_at(10))
    for path in (run / "checkpoints").glob("*.safetensors"):
        path.write_bytes(b"damaged")
    said: list[dict] = []

    def stop_later(line: dict) -> None:
        said.append(line)
        stop_at(5)(line)

    with pytest.raises(KeyboardInterrupt):
        train(TINY, run, watch=stop_later)
    assert said[2]["event"] == "no checkpoint is whole: starting from the beginning"
    assert [path.stem for path in (run / "checkpoints").glob("*.json")] == ["00000003"]
    train(TINY, run)
    train(TINY, tmp_path / "whole")
    assert weights(run) == weights(tmp_path / "whole")


def test_other_data_or_first_weights_on_an_existing_run_are_refused(tmp_path, data_folder):
    train(TINY, tmp_path / "other")
    with pytest.raises(KeyboardInterrupt):
        train(TINY, tmp_path / "run", init=tmp_path / "other" / "model", watch=stop_at(4))
    with pytest.raises(RunError, match=r"other origins \(--init\)"):
        train(TINY, tmp_path / "run")
    names = [f"class {i}" for i in range(12)]
    make_store(
        data_folder, [10] * 12, (12, 12, 3), {"train": names[6:], "val": names[3:6], "test": names[:3]}
    )  # the same images under the same name, otherwise split
    with pytest.raises(RunError, match=r"other origins \(images and split of the data\)"):
        train(TINY, tmp_path / "run", init=tmp_path / "other" / "model")


def test_a_failed_start_binds_nobody(tmp_path):
    with pytest.raises(DataError, match="too few classes"):
        train(replace(TINY, validation=replace(TINY.validation, way=5)), tmp_path / "run")
    try:
        train(replace(TINY, model=replace(TINY.model, channels=1)), tmp_path / "run")
    except RunError:
        train(replace(TINY, updates=1), tmp_path / "run")  # the lock is free while the error is being handled
    else:
        pytest.fail("a model for grey images was trained on coloured ones")


def test_a_run_that_failed_before_its_first_checkpoint_binds_nobody(tmp_path):
    wild = replace(TINY, optimizer=OptimizerSettings("sgd", 1e30, schedule="constant"))
    with pytest.raises(RunError, match="not finite"):
        train(wild, tmp_path / "run")
    leftover = tmp_path / "run" / "checkpoints" / ".00000003.safetensors.a1b2"  # of a process killed in its first one
    leftover.write_bytes(b"half")
    train(replace(TINY, updates=1), tmp_path / "run")
    assert [line["update"] for line in read_metrics(tmp_path / "run" / "metrics.jsonl")][-1] == 1
    assert not leftover.exists()


def test_a_folder_of_other_things_becomes_no_run(tmp_path):
    (tmp_path / "photographs").mkdir()
    (tmp_path / "photographs" / "cat.jpg").write_bytes(b"a cat")
    with pytest.raises(RunError, match=r"is no run, it holds cat.jpg"):
        train(TINY, tmp_path / "photographs")
    assert [path.name for path in (tmp_path / "photographs").iterdir()] == ["cat.jpg"]


@pytest.mark.parametrize("settings", ["[]", '{"tasks": NaN}', '{"model": {"alpha": NaN}}', '{"model": 3}'])
def test_damaged_settings_of_a_run_are_named(tmp_path, settings):
    train(replace(TINY, updates=1), tmp_path / "run")
    (tmp_path / "run" / "config.json").write_text(f'{{"format": 1, "settings": {settings}}}')
    with pytest.raises(SamovarError, match=r"stored|finite"):
        train(replace(TINY, updates=1), tmp_path / "run")


def test_metrics_end_where_they_are_not_understood(tmp_path):
    (tmp_path / "metrics.jsonl").write_text('{"update": 1}\n[1]\n{"update": 2}\n')
    assert read_metrics(tmp_path / "metrics.jsonl") == [{"update": 1}]


def test_other_settings_on_an_existing_run_are_refused_by_name(tmp_path):
    with pytest.raises(KeyboardInterrupt):
        train(TINY, tmp_path / "run", watch=stop_at(4))
    changed = replace(TINY, tasks=3, optimizer=replace(TINY.optimizer, learning_rate=0.5))
    with pytest.raises(RunError, match=r"tasks: 2 -> 3; optimizer.learning_rate: 0.001 -> 0.5"):
        train(changed, tmp_path / "run")


def test_a_second_process_on_the_same_run_is_refused(tmp_path):
    long = replace(TINY, updates=5000)
    with subprocess.Popen(command(long, tmp_path / "run"), stderr=subprocess.PIPE, text=True) as process:
        try:
            while not process.stderr.readline().startswith("update "):  # then it has the lock
                assert process.poll() is None
            with pytest.raises(RunError, match="Another process"):
                train(long, tmp_path / "run", watch=stop_at(1))
        finally:
            process.kill()
    reached: list[int] = []

    def stop_soon(line: dict) -> None:
        reached.append(line.get("update", 0))
        if "loss" in line:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):  # the lock has died with its process
        train(long, tmp_path / "run", watch=stop_soon)
    assert reached[-1] > 0


def test_a_loss_that_is_not_finite_stops_the_run(tmp_path):
    wild = replace(TINY, optimizer=OptimizerSettings("sgd", 1e30, schedule="constant"))
    with pytest.raises(RunError, match=r"not finite at update \d+ \(step size 1e\+30\). The last good checkpoint is"):
        train(wild, tmp_path / "run")
    for path in (tmp_path / "run").rglob("*.safetensors"):
        assert all(torch.isfinite(tensor).all() for tensor in load_file(path).values())


def test_full_disk_keeps_the_last_checkpoint(tmp_path):
    """After some updates, a limit on file sizes lets small files through and no checkpoint: as a disk that fills up."""
    run = tmp_path / "run"
    with pytest.raises(KeyboardInterrupt):
        train(TINY, run, watch=stop_at(5))
    before = {path: path.read_bytes() for path in (run / "checkpoints").glob("*")}
    limited = ["bash", "-c", 'ulimit -f 4; exec "$@"', "bash", *command(TINY, run)]
    failed = subprocess.run(limited, capture_output=True, text=True, check=False)
    assert failed.returncode == 2
    assert "Cannot write" in failed.stderr
    assert "Traceback" not in failed.stderr
    assert {path: path.read_bytes() for path in (run / "checkpoints").glob("*")} == before
    train(TINY, run)
    train(TINY, tmp_path / "whole")
    assert weights(run) == weights(tmp_path / "whole")


def test_early_stopping_keeps_the_best(tmp_path):
    settings = replace(TINY, updates=40, validation=replace(TINY.validation, every=1, patience=3))
    lines: list[dict] = []
    train(settings, tmp_path / "run", watch=lines.append)
    accuracies = [line["validation_accuracy"] for line in lines if "validation_accuracy" in line]
    best = int(np.argmax(accuracies))
    assert len(accuracies) in (best + 4, 40)
    saved = load_model(tmp_path / "run" / "model")
    assert saved.training["figures"]["validation accuracy"].endswith(f"(update {best + 1})")
    evaluator = TaskEvaluator(saved.model, training_dataset(saved, "val"), saved.normalisation, torch.device("cpu"))
    assert measure_accuracy(evaluator, settings.validation.protocol(0)).mean == accuracies[best]
    again: list[dict] = []
    train(settings, tmp_path / "run", watch=again.append)
    assert not any("loss" in line for line in again), "a finished run is not trained on"


def test_patience_is_kept_over_a_stop(tmp_path):
    """Nothing is learned, so the first validation is the best and the fourth the last, wherever the run was stopped."""
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


def test_starting_from_another_model(tmp_path):
    train(TINY, tmp_path / "first")
    said: list[dict] = []
    frozen = replace(TINY, updates=1, optimizer=OptimizerSettings(learning_rate=1e-12))
    train(frozen, tmp_path / "second", init=tmp_path / "first" / "model", watch=said.append)
    assert "tensors taken" in said[0]["event"]
    first, second = (load_model(tmp_path / run / "model").model.state_dict() for run in ("first", "second"))
    for name in (name for name in first if "running" not in name):
        torch.testing.assert_close(first[name], second[name], rtol=1e-4, atol=1e-6)
    with pytest.raises(RunError, match="does not fit"):
        train(RESNET, tmp_path / "third", init=tmp_path / "first" / "model")
    again: list[dict] = []
    train(frozen, tmp_path / "second", init=tmp_path / "first" / "model", watch=again.append)
    assert [line["event"] for line in again] == ["going on after update 1"]


@pytest.mark.parametrize("damage", ["missing", "extra", "shape", "config", "weights", "format"])
def test_model_folders_that_do_not_fit_are_refused_by_name(damage, tmp_path):
    train(replace(TINY, updates=1), tmp_path / "run")
    folder = tmp_path / "run" / "model"
    tensors = load_file(folder / "model.safetensors")
    name = "backbone.convolutions.0.weight"
    expected = name
    if damage == "missing":
        del tensors[name]
    elif damage == "extra":
        tensors["evil"] = torch.zeros(1)
        expected = "unknown evil"
    elif damage == "shape":
        tensors[name] = torch.zeros(2, 2)
    save_file(tensors, folder / "model.safetensors")
    config = json.loads((folder / "config.json").read_text())
    if damage == "config":
        config["model"]["surprise"] = 1
        expected = "surprise"
    elif damage == "format":
        config["format"], expected = 99, "format 99"
    (folder / "config.json").write_text(json.dumps(config))
    if damage == "weights":
        (folder / "model.safetensors").write_bytes(b"garbage")
        expected = "model.safetensors is damaged"
    with pytest.raises(ModelError, match=expected):
        load_model(folder)


def test_a_loaded_model_answers_as_the_saved_one(tmp_path):
    run = train(RESNET, tmp_path / "run")
    loaded = load_model(tmp_path / "run" / "model")
    images, labels = torch.randn(1, 6, 3, 12, 12), torch.tensor([[0, 0, 1, 1, 2, 2]])
    with torch.no_grad():
        ours, theirs = (
            model.task_prior(images, labels, 3).weights.mean for model in (run.model.model.eval(), loaded.model)
        )
    torch.testing.assert_close(ours, theirs, rtol=1e-4, atol=1e-5)
    assert loaded.normalisation == run.model.normalisation
    card = (tmp_path / "run" / "model" / "README.md").read_text()
    assert "trained on toy" in card
    assert f"Trained by {RESNET.updates} updates" in card
    del loaded.training["settings"]["tasks"]  # settings told in part: the card says nothing of the recipe
    assert "Trained by" not in (loaded.save_pretrained(tmp_path / "partial") / "README.md").read_text()


def test_schedules():
    drops = OptimizerSettings("sgd", 0.1, schedule="drops", drops=(10, 15))
    assert [round(step_size(drops, t, 20), 6) for t in (0, 9, 10, 14, 15, 19)] == [0.1, 0.1, 0.01, 0.01, 0.001, 0.001]
    cycle = [step_size(OptimizerSettings(learning_rate=1.0), t, 100) for t in range(101)]
    assert np.argmax(cycle) == 30
    assert cycle[30] == pytest.approx(1)
    assert cycle[100] == pytest.approx(0)
    assert cycle[:31] == sorted(cycle[:31])
    assert step_size(OptimizerSettings(schedule="constant"), 5, 10) == 1e-3


def test_decay_is_for_kernels_and_multipliers_by_their_part():
    settings = OptimizerSettings(
        decay_extractor=1.0, decay_task_embedding=2.0, decay_auxiliary=3.0, decay_inference=4.0, decay_multipliers=5.0
    )
    model = FewShotModel(RESNET.model)
    found, parts = decays(model, settings), {"backbone": 1.0, "task_embedding": 2.0, "auxiliary_head": 3.0}
    for name, parameter in model.named_parameters():
        expected = parts.get(name.split(".")[0], 4.0) if parameter.ndim > 1 else 0.0
        assert found.get(name, 0.0) == (5.0 if "multipliers" in name else expected), name


def test_auxiliary_updates_become_rarer():
    """Before update t of T with probability 0.9^floor(12 t / T): always in the first twelfth, then less often."""
    for twelfth in range(12):
        steps = [has_auxiliary_step(0, update, 12_000) for update in range(1000 * twelfth, 1000 * (twelfth + 1))]
        assert np.mean(steps) == pytest.approx(0.9**twelfth, abs=0.0 if twelfth == 0 else 0.05)


def test_decay_is_inside_the_clipped_gradient_and_clipping_is_by_tensor():
    a, b = (torch.nn.Parameter(torch.full((4,), value)) for value in (3.0, 1.0))
    a.grad, b.grad = torch.zeros(4), torch.full((4,), 0.01)
    decay_and_clip([(a, 0.5), (b, 0.0)], OptimizerSettings(clip=1.0))
    torch.testing.assert_close(a.grad, torch.full((4,), 0.5), rtol=1e-4, atol=1e-5)  # 1.5 each, norm 3, clipped to 1
    torch.testing.assert_close(b.grad, torch.full((4,), 0.01))  # untouched
    a.grad = torch.full((4,), 1.5)
    decay_and_clip([(a, 0.0), (b, 0.0)], OptimizerSettings(clip=1.0, clip_by="global"))
    assert torch.cat([a.grad, b.grad]).norm().item() == pytest.approx(1, rel=1e-4)


def test_bfloat16_training_runs(tmp_path):
    run = train(replace(RESNET, precision="bf16-mixed", updates=2), tmp_path / "run")
    assert run.model.model.backbone.blocks[0].shortcut.weight.dtype == torch.float32


def test_own_images_from_the_command_line(tmp_path, capsys):
    """Split, size and way are chosen from what is there, and said; too little is refused with the reason."""
    from PIL import Image

    rng = np.random.default_rng(0)
    for i in range(8):
        (tmp_path / "own" / f"c{i}").mkdir(parents=True)
        for j in range(3 + i):
            Image.fromarray(rng.integers(0, 256, (20, 24, 3), np.uint8)).save(tmp_path / "own" / f"c{i}" / f"{j}.png")
    flags = ["--updates", "2", "--validation.tasks", "2", "--validation.test-tasks", "2", "--model.width", "4"]
    assert main(["train", "folder", "--root", str(tmp_path / "own"), "--out", str(tmp_path / "run"), *flags]) == 0
    captured = capsys.readouterr()
    assert "8 classes (train / val / test 4 / 2 / 2), 3 to 10 of each, stored as 32 x 32 x 3" in captured.err
    assert "4-way 1-shot tasks with 2 queries per class; validating on 2-way 1-shot" in captured.err
    assert "Test accuracy" in captured.out
    for name in ("training.png", "episode.png", "test.json", "config.json", "metrics.jsonl"):
        assert (tmp_path / "run" / name).exists()
    for name in ("c5", "c6", "c7"):
        shutil.rmtree(tmp_path / "own" / name)
    assert main(["train", "folder", "--root", str(tmp_path / "own"), "--out", str(tmp_path / "few")]) == 2
    assert "at least 2 classes in each" in capsys.readouterr().err
    assert main(["train", "folder", "--out", str(tmp_path / "none")]) == 2
    assert "--root" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("flags", "words"),
    [
        (["--optimizer.clip", "-1"], "--optimizer.clip must not be negative"),
        (["--optimizer.learning-rate", "-1"], "--optimizer.learning-rate must be above 0"),
        (["--optimizer.momentum", "1.5"], "--optimizer.momentum must be from 0"),
        (["--model.alpha", "nan"], "--alpha must be a finite number"),
        (["--model.beta", "nan"], "--beta must be a finite number"),
        (["--validation.test-tasks", "0"], "--validation.test-tasks must be at least 1"),
        (["--model.backbone", "conv5", "--model.size", "28"], "--size must be at least 32"),
        (["--model.auxiliary-classes", "3"], "Use --model.auxiliary-classes 6"),
        (["--devices", "0"], "--devices and --nodes must be at least 1"),
        (["--accelerator", "abacus"], "cpu, cuda, mps or auto"),
    ],
)
def test_impossible_settings_are_refused_with_the_flag_to_change(flags, words, tmp_path, capsys):
    arguments = command(TINY, tmp_path / "run", *flags)
    try:
        assert main(arguments[arguments.index("train") :]) == 2
    except SystemExit as stopped:  # the parser's own way
        assert stopped.code == 2  # noqa: PT017
    assert words in " ".join(capsys.readouterr().err.split())
    assert not (tmp_path / "run" / "config.json").exists()


def test_flags_hold_on_own_images(tmp_path, capsys):
    """What the user chose is kept where the data allow it; two folders are two data sets, a store is taken by name."""
    from PIL import Image

    for root in ("own", "other"):
        for i in range(8):
            (tmp_path / root / f"c{i}").mkdir(parents=True)
            for j in range(6):
                Image.new("RGB", (20, 20), (30 * i, 40 * j, 0)).save(tmp_path / root / f"c{i}" / f"{j}.png")
    flags = ["--updates", "1", "--validation.tasks", "2", "--validation.test-tasks", "2", "--model.width", "4"]
    flags += ["--model.backbone", "resnet12", "--model.size", "16", "--model.channels", "1"]
    flags += ["--validation.queries", "2", "--validation.shot", "3"]
    out = ["--out", str(tmp_path / "run")]
    assert main(["train", "folder", "--root", str(tmp_path / "own"), *out, *flags]) == 0
    settings = json.loads((tmp_path / "run" / "config.json").read_text())["settings"]
    assert {name: settings["model"][name] for name in ("backbone", "size", "channels")} == {
        "backbone": "resnet12",
        "size": 16,
        "channels": 1,
    }
    assert (settings["validation"]["queries"], settings["validation"]["shot"]) == (2, 3)
    assert settings["data"]["name"] == "folder-own"
    assert main(["train", "folder", "--root", str(tmp_path / "other"), *out, *flags]) == 2
    assert "data.name: folder-own -> folder-other" in capsys.readouterr().err
    named = ["--root", str(tmp_path / "other"), "--data.name", "pets"]
    assert main(["train", "folder", *named, "--out", str(tmp_path / "named"), *flags]) == 0
    assert main(["train", "folder", "--data.name", "pets", "--out", str(tmp_path / "store"), *flags]) == 0
    first, second = (json.loads((tmp_path / each / "config.json").read_text()) for each in ("named", "store"))
    assert first["settings"] == second["settings"]
    assert first["settings"]["model"]["size"] == 16, "as the store has it"
    assert main(["train", "folder", "--data.name", "dogs", "--out", str(tmp_path / "none")]) == 2
    assert "no prepared data called 'dogs'" in capsys.readouterr().err


def test_a_model_of_own_data_is_not_tested_on_data_prepared_anew(tmp_path, data_folder):
    names = [f"class {i}" for i in range(12)]
    first, second = ({"train": part[:6], "val": part[6:9], "test": part[9:]} for part in (names, names[::-1]))
    make_store(data_folder, [10] * 12, (12, 12, 3), first, "mine", source_name="folder")
    run = train(replace(TINY, updates=1, data=DataSettings("mine")), tmp_path / "run")
    assert len(training_dataset(run.model, "test")) == 3
    make_store(data_folder, [10] * 12, (12, 12, 3), second, "mine", source_name="folder")
    with pytest.raises(DataError, match="may have been for training then"):
        training_dataset(run.model, "test")


def test_too_few_classes_are_refused_before_training(tmp_path, data_folder):
    with pytest.raises(DataError, match="too few classes for tasks of 7"):
        train(replace(TINY, episodes=EpisodeSettings(7, 1, 1)), tmp_path / "run")
    with pytest.raises(DataError, match="too few classes for tasks of 5"):
        train(replace(TINY, validation=replace(TINY.validation, way=5)), tmp_path / "other")
    names = [f"class {i}" for i in range(12)]
    make_store(
        data_folder, [10] * 12, (12, 12, 3), {"train": names[:6], "val": names[6:10], "test": names[10:]}, "short"
    )
    with pytest.raises(DataError, match=r"short \(test, 2 classes\) has too few classes for tasks of 3"):
        train(replace(TINY, data=DataSettings("short")), tmp_path / "third")


def test_tensorboard_files_and_plain_lines(tmp_path, capsys):
    arguments = command(replace(TINY, updates=2), tmp_path / "run", "--tensorboard")
    assert main(arguments[arguments.index("train") :]) == 0
    assert list((tmp_path / "run" / "tensorboard").glob("events*"))
    lines = capsys.readouterr().err.splitlines()
    assert json.loads(lines[0])["updates"] == 2, "the resolved settings are printed"
    assert any(
        re.match(r"update 2/2  loss .* NLL .* KL .* largest variance .* images/s .* s left", line) for line in lines
    )


def test_a_model_that_does_not_fit_the_images_is_refused_with_the_flags_that_fit(tmp_path):
    with pytest.raises(RunError, match=r"Use --model.size 12 --model.channels 3"):
        train(replace(TINY, model=replace(TINY.model, channels=1, size=28)), tmp_path / "run")


def test_unknown_preset_and_misplaced_root(tmp_path, capsys):
    assert main(["train", "nonsense"]) == 2
    assert "samovar presets" in capsys.readouterr().err
    assert main(["train", "glyphs", "--root", str(tmp_path)]) == 2
    assert main(["presets"]) == 0
    assert "table5-cifar_fs-1shot" in capsys.readouterr().out


def test_synchronised_norm_has_the_same_tensors_and_answers():
    """What GPUs would use; at test it can be compared on the CPU."""
    from samovar.models.norm import synchronise

    for settings in (TINY.model, RESNET.model):
        model = FewShotModel(settings).eval()
        names, parameters = set(model.state_dict()), len(list(model.parameters()))
        images = torch.randn(1, 4, 3, 12, 12)
        before = model.embed(images)
        synchronise(model)
        assert set(model.state_dict()) == names
        assert len(list(model.parameters())) == parameters
        torch.testing.assert_close(model.eval().embed(images), before)


def test_a_backbone_of_ones_own_is_trained_saved_and_passed_again(tmp_path):
    class Own(torch.nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.layer = torch.nn.Linear(3 * 12 * 12, 7)
            self.dropout = torch.nn.Dropout(0.5)  # draws from torch's global state

        def forward(self, images: torch.Tensor) -> torch.Tensor:
            return self.dropout(self.layer(images.flatten(1)))

    settings = replace(TINY, updates=2, model=ModelSettings(backbone="custom", size=7))
    own = Own()
    before = own.layer.weight.detach().clone()
    train(settings, tmp_path / "run", backbone=own)
    assert not torch.equal(own.layer.weight, before)
    with pytest.raises(ModelError, match="pass it as `backbone`"):
        load_model(tmp_path / "run" / "model")
    load_model(tmp_path / "run" / "model", Own())
    with pytest.raises(RunError, match="passed as `backbone`"):
        train(settings, tmp_path / "other")
    for name, seed in (("again", 1), ("and again", 2)):
        torch.manual_seed(0)
        module = Own()
        torch.manual_seed(seed)
        train(settings, tmp_path / name, backbone=module, init=tmp_path / "run" / "model")
    assert weights(tmp_path / "again") == weights(tmp_path / "and again")
