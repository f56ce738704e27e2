"""A run folder belongs to one run, and binds nobody where the start failed."""

from dataclasses import replace

import pytest
from helpers import make_store
from helpers_training import TINY, stop_at

from samovar.errors import DataError, RunError, SamovarError
from samovar.settings.training import OptimizerSettings
from samovar.training.run import train
from samovar.training.run_folder import read_metrics

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
    train(replace(TINY, updates=1), tmp_path / "run")
    assert [line["update"] for line in read_metrics(tmp_path / "run" / "metrics.jsonl")][-1] == 1
    assert not leftover.exists()


def test_a_folder_of_other_things_becomes_no_run(tmp_path):
    (tmp_path / "photographs").mkdir()
    (tmp_path / "photographs" / "cat.jpg").write_bytes(b"a cat")
    with pytest.raises(RunError, match=r"is not a run folder: it contains cat.jpg"):
        train(TINY, tmp_path / "photographs")
    assert [path.name for path in (tmp_path / "photographs").iterdir()] == ["cat.jpg"]


@pytest.mark.parametrize(
    "settings", ["[]", '{"tasks": NaN}', '{"model": {"alpha": NaN}}', '{"model": 3}']
)
def test_damaged_settings_of_a_run_are_named(finished, settings):
    (finished / "config.json").write_text(f'{{"format": 1, "settings": {settings}}}')
    with pytest.raises(SamovarError, match=r"stored|finite"):
        train(TINY, finished)


def test_metrics_end_where_they_are_not_understood(tmp_path):
    (tmp_path / "metrics.jsonl").write_text('{"update": 1}\n[1]\n{"update": 2}\n')
    assert read_metrics(tmp_path / "metrics.jsonl") == [{"update": 1}]


def test_other_settings_on_an_existing_run_are_refused_by_name(stopped):
    changed = replace(TINY, tasks=3, optimizer=replace(TINY.optimizer, learning_rate=0.5))
    with pytest.raises(RunError, match=r"tasks: 2 -> 3; optimizer.learning_rate: 0.001 -> 0.5"):
        train(changed, stopped)
