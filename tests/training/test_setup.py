"""A run starts from another model where it fits, and what does not fit is refused with advice."""

from dataclasses import replace

import pytest
import torch
from helpers_training import RESNET, TINY, events

from samovar.artifacts.saved_model import load_model
from samovar.data.dataset import Dataset
from samovar.data.preparation import ready
from samovar.errors import DataError, ModelError, RunError
from samovar.settings.data import DataSettings
from samovar.settings.tasks import EpisodeSettings
from samovar.settings.training import OptimizerSettings
from samovar.training.run import train
from samovar.training.setup import RunData, check_shape, check_world

pytestmark = pytest.mark.usefixtures("toy_data")


def test_a_network_that_could_not_be_loaded_again_is_not_built(tmp_path):
    wide = replace(TINY, model=replace(TINY.model, width=10_000))
    with pytest.raises(
        ModelError, match=r"--model describes a network of [\d,]+ bytes, but at most"
    ):
        train(wide, tmp_path / "run")
    beyond = replace(TINY, model=replace(TINY.model, width=10**9))
    with pytest.raises(ModelError, match="--model describes a network that cannot be built"):
        train(beyond, tmp_path / "run")


def test_starting_from_another_model(tmp_path, toy_runs):
    init = toy_runs / "whole" / "model"
    lines: list[dict] = []
    frozen = replace(TINY, updates=1, optimizer=OptimizerSettings(learning_rate=1e-12))
    train(frozen, tmp_path / "second", init=init, watch=lines.append)
    assert "tensors taken" in events(lines)[0]
    first, second = (
        load_model(folder).model.state_dict() for folder in (init, tmp_path / "second" / "model")
    )
    for name in (name for name in first if "running" not in name):
        torch.testing.assert_close(first[name], second[name], rtol=1e-4, atol=1e-6)
    with pytest.raises(RunError, match="does not fit"):
        train(RESNET, tmp_path / "third", init=init)
    again: list[dict] = []
    train(frozen, tmp_path / "second", init=init, watch=again.append)
    assert events(again) == ["resuming after update 1"]


def test_a_model_that_does_not_fit_the_images_is_refused_with_the_flags_that_fit(tmp_path):
    with pytest.raises(RunError, match=r"Use --model.size 12 --model.channels 3"):
        train(replace(TINY, model=replace(TINY.model, channels=1, size=28)), tmp_path / "run")


def test_the_data_of_a_run_has_three_splits_and_a_normalisation():
    store = ready("toy")
    data = RunData.open(TINY, store)
    assert [len(split) for split in (data.train, data.validation, data.test)] == [6, 3, 3]
    unit = replace(TINY, data=DataSettings("toy", normalisation="unit"))
    normalisation = RunData.open(unit, store).normalisation
    assert (normalisation.mean, normalisation.std) == ((0.0,) * 3, (1.0,) * 3)
    assert normalisation.scale == data.normalisation.scale


def test_tasks_that_the_data_does_not_allow_are_refused():
    with pytest.raises(DataError, match="images, but tasks need"):
        RunData.open(replace(TINY, episodes=EpisodeSettings(3, 8, 8)), ready("toy"))


def test_too_small_an_auxiliary_head_is_refused_with_the_flag():
    settings = replace(TINY, model=replace(TINY.model, auxiliary_classes=5))
    words = r"distinguishes all 6 classes.* 5 outputs. Use --model.auxiliary-classes 6"
    with pytest.raises(RunError, match=words):
        check_shape(settings, Dataset(ready("toy")))


def test_processes_that_cannot_do_the_work_of_one_are_refused():
    cpu = torch.device("cpu")
    check_world(TINY, 1, cpu)
    with pytest.raises(RunError, match="3 processes cannot share 2 tasks"):
        check_world(TINY, 3, cpu)
    with pytest.raises(RunError, match=r"Use --model.norm episode"):
        check_world(TINY, 2, cpu)
    check_world(replace(TINY, model=replace(TINY.model, norm="episode")), 2, cpu)
