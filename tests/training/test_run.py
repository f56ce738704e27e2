"""Training runs in bfloat16 and with a backbone of the user's own, and refuses too few classes beforehand."""

from dataclasses import replace

import pytest
import torch
from helpers import make_store
from helpers_training import RESNET, TINY, weights

from samovar.artifacts.saved_model import load_model
from samovar.errors import DataError, ModelError, RunError
from samovar.settings.data import DataSettings
from samovar.settings.model import ModelSettings
from samovar.settings.tasks import EpisodeSettings
from samovar.training.run import train

pytestmark = pytest.mark.usefixtures("toy_data")


def test_bfloat16_training_runs(tmp_path):
    run = train(replace(RESNET, precision="bf16-mixed", updates=2), tmp_path / "run")
    assert run.model.model.backbone.blocks[0].shortcut.weight.dtype == torch.float32


def test_too_few_classes_are_refused_before_training(tmp_path, data_folder):
    with pytest.raises(DataError, match="too few classes for 7-way tasks"):
        train(replace(TINY, episodes=EpisodeSettings(7, 1, 1)), tmp_path / "run")
    with pytest.raises(DataError, match="too few classes for 5-way tasks"):
        train(replace(TINY, validation=replace(TINY.validation, way=5)), tmp_path / "other")
    names = [f"class {i}" for i in range(12)]
    make_store(
        data_folder,
        [10] * 12,
        (12, 12, 3),
        {"train": names[:6], "val": names[6:10], "test": names[10:]},
        "short",
    )
    with pytest.raises(
        DataError, match=r"short \(test, 2 classes\) has too few classes for 3-way tasks"
    ):
        train(replace(TINY, data=DataSettings("short")), tmp_path / "third")


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
