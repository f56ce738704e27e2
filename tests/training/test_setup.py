"""A run starts from another model where it fits, and a model that does not fit the images is refused."""

from dataclasses import replace

import pytest
import torch
from helpers_training import RESNET, TINY

from samovar.artifacts.saved_model import load_model
from samovar.errors import RunError
from samovar.settings.training import OptimizerSettings
from samovar.training.run import train

pytestmark = pytest.mark.usefixtures("toy_data")


def test_starting_from_another_model(tmp_path):
    train(TINY, tmp_path / "first")
    said: list[dict] = []
    frozen = replace(TINY, updates=1, optimizer=OptimizerSettings(learning_rate=1e-12))
    train(frozen, tmp_path / "second", init=tmp_path / "first" / "model", watch=said.append)
    assert "tensors taken" in said[0]["event"]
    first, second = (
        load_model(tmp_path / run / "model").model.state_dict() for run in ("first", "second")
    )
    for name in (name for name in first if "running" not in name):
        torch.testing.assert_close(first[name], second[name], rtol=1e-4, atol=1e-6)
    with pytest.raises(RunError, match="does not fit"):
        train(RESNET, tmp_path / "third", init=tmp_path / "first" / "model")
    again: list[dict] = []
    train(frozen, tmp_path / "second", init=tmp_path / "first" / "model", watch=again.append)
    assert [line["event"] for line in again] == ["going on after update 1"]


def test_a_model_that_does_not_fit_the_images_is_refused_with_the_flags_that_fit(tmp_path):
    with pytest.raises(RunError, match=r"Use --model.size 12 --model.channels 3"):
        train(replace(TINY, model=replace(TINY.model, channels=1, size=28)), tmp_path / "run")
