"""A run folder belongs to one run, and binds nobody where the start failed."""

from dataclasses import replace

import pytest
from helpers import make_store
from helpers_training import TINY, events, stop_at, weights

from samovar.errors import DataError, RunError
from samovar.settings.training import OptimizerSettings
from samovar.training.run import train
from samovar.training.run_folder import RunFolder
from samovar.training.stored_metrics import read_metrics

pytestmark = pytest.mark.usefixtures("toy_data")


def test_other_data_or_first_weights_on_an_existing_run_are_refused(
    tmp_path, data_folder, toy_runs
):
    init = toy_runs / "whole" / "model"
    with pytest.raises(KeyboardInterrupt):
        train(TINY, tmp_path / "run", init=init, watch=stop_at(4))
    with pytest.raises(RunError, match=r"started with a different origin \(--init\)"):
        train(TINY, tmp_path / "run")
    names = [f"class {i}" for i in range(12)]
    make_store(
        data_folder,
        [10] * 12,
        (12, 12, 3),
        {"train": names[6:], "val": names[3:6], "test": names[:3]},
    )  # the same images under the same name, otherwise split
    with pytest.raises(RunError, match=r"different origin \(images and split of the data\)"):
        train(TINY, tmp_path / "run", init=init)


def test_a_failed_start_binds_nobody(tmp_path):
    with pytest.raises(DataError, match="too few classes"):
        train(replace(TINY, validation=replace(TINY.validation, way=5)), tmp_path / "run")
    try:
        train(replace(TINY, model=replace(TINY.model, channels=1)), tmp_path / "run")
    except RunError:
        train(
            replace(TINY, updates=1), tmp_path / "run"
        )  # the lock is free while the error is being handled
    else:
        pytest.fail("a model for grey images was trained on coloured ones")


def test_a_run_that_failed_before_its_first_checkpoint_binds_nobody(tmp_path):
    wild = replace(TINY, optimizer=OptimizerSettings("sgd", 1e30, schedule="constant"))
    with pytest.raises(RunError, match="not finite"):
        train(wild, tmp_path / "run")
    leftover = (
        tmp_path / "run" / "checkpoints" / ".00000003.safetensors.a1b2"
    )  # of a process killed in its first one
    leftover.write_bytes(b"half")
    assert RunFolder(tmp_path / "run").diverged_at is not None
    train(replace(TINY, updates=1), tmp_path / "run")
    assert RunFolder(tmp_path / "run").diverged_at is None
    assert [line["update"] for line in read_metrics(tmp_path / "run" / "metrics.jsonl")][-1] == 1
    assert not leftover.exists()


def test_a_folder_of_other_things_becomes_no_run(tmp_path):
    (tmp_path / "photographs").mkdir()
    (tmp_path / "photographs" / "cat.jpg").write_bytes(b"a cat")
    with pytest.raises(RunError, match=r"is not a run folder: it contains cat.jpg"):
        train(TINY, tmp_path / "photographs")
    assert [path.name for path in (tmp_path / "photographs").iterdir()] == ["cat.jpg"]


@pytest.mark.parametrize(
    "settings",
    [
        "[]",
        '{"tasks": NaN}',
        '{"tasks": 1e999}',
        '{"tasks": 1' + "0" * 400 + "}",
        '{"model": {"alpha": NaN}}',
        '{"model": 3}',
        "[" * 100_000,
    ],
)
def test_damaged_settings_of_a_run_are_named(finished, settings):
    (finished / "config.json").write_text(f'{{"format": 1, "settings": {settings}}}')
    with pytest.raises(RunError, match=r"config\.json cannot be read \(") as error:
        train(TINY, finished)
    assert "Choose another --out" in str(error.value)


@pytest.mark.parametrize("damage", [b"\xff\xfe", b"[1]", b'{"update": "two"}', b'{"update": 1'])
def test_a_damaged_line_of_metrics_is_cut_and_said_and_the_run_goes_on(stopped, toy_runs, damage):
    """The last checkpoint is of update 6; what was logged before it is lost if it is damaged."""
    path = stopped / "metrics.jsonl"
    lines = path.read_bytes().splitlines()
    path.write_bytes(b"\n".join([*lines[:2], damage, *lines[2:], b'{"upda']))
    news: list[dict] = []
    train(TINY, stopped, watch=news.append)
    assert "line 3 of metrics.jsonl is damaged and was removed" in events(news)
    assert weights(stopped) == weights(toy_runs / "whole")
    logged = [line["update"] for line in read_metrics(path)]
    assert logged == [line["update"] for line in read_metrics(toy_runs / "whole" / "metrics.jsonl")]


def test_other_settings_on_an_existing_run_are_refused_by_name(stopped):
    changed = replace(TINY, tasks=3, optimizer=replace(TINY.optimizer, learning_rate=0.5))
    with pytest.raises(RunError, match=r"tasks: 2 -> 3; optimizer.learning_rate: 0.001 -> 0.5"):
        train(changed, stopped)
