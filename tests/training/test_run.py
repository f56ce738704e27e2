"""Runs in bfloat16, with a user's own backbone or model; too few classes are refused before."""

from dataclasses import replace

import pytest
import torch
from helpers import make_store
from helpers_training import RESNET, TINY, weights

from samovar.artifacts.saved_model import SavedModel, load_model
from samovar.artifacts.training_record import TestResult
from samovar.errors import DataError, ModelError, RunError, SettingsError
from samovar.models.few_shot_model import FewShotModel
from samovar.settings.data import DataSettings
from samovar.settings.model import ModelSettings
from samovar.settings.tasks import EpisodeSettings
from samovar.training.run import train
from samovar.training.setup import build_model

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
    with pytest.raises(RunError, match=r"`backbone`.* go together"):
        train(settings, tmp_path / "other")
    for name, seed in (("again", 1), ("and again", 2)):
        torch.manual_seed(0)
        module = Own()
        torch.manual_seed(seed)
        train(settings, tmp_path / name, backbone=module, init=tmp_path / "run" / "model")
    assert weights(tmp_path / "again") == weights(tmp_path / "and again")


class Tempered(FewShotModel):
    """A model with a learned layer between features and classifier, which torch initialises."""

    weight_decays = {"mix": "decay_inference"}  # noqa: RUF012

    def __init__(self, settings, backbone=None, seed=0) -> None:
        super().__init__(settings, backbone, seed)
        self.mix = torch.nn.Linear(self.feature_dim, self.feature_dim)

    def embed(self, images, films=None, noise=None):
        return self.mix(super().embed(images, films, noise))


class Undeclared(FewShotModel):
    def __init__(self, settings, backbone=None, seed=0) -> None:
        super().__init__(settings, backbone, seed)
        self.mix = torch.nn.Linear(2, 2)


def test_a_subclass_of_the_model_is_trained_saved_and_passed_again(tmp_path):
    quick = replace(TINY, updates=2)
    torch.manual_seed(1)
    run = train(quick, tmp_path / "run", model=Tempered)
    assert type(run.model.model) is Tempered
    before = build_model(Tempered, quick, None)
    assert not torch.equal(before.mix.weight, run.model.model.mix.weight.cpu())
    loaded = SavedModel.from_pretrained(tmp_path / "run", model=Tempered)
    assert loaded.identity == run.model.identity
    with pytest.raises(ModelError, match=r"unknown mix.bias.*pass that class as `model`"):
        load_model(tmp_path / "run" / "model")
    with pytest.raises(RunError, match="different origin"):
        train(quick, tmp_path / "run")
    torch.manual_seed(2)  # the global state plays no part in its weights either
    train(quick, tmp_path / "again", model=Tempered)
    assert weights(tmp_path / "again") == weights(tmp_path / "run")
    with pytest.raises(SettingsError, match=r"mix\.weight"):
        train(quick, tmp_path / "other", model=Undeclared)


def test_a_finished_run_keeps_its_results_as_numbers_and_in_words(tmp_path):
    run = train(replace(TINY, updates=4), tmp_path / "run")
    record = load_model(tmp_path / "run" / "model").record
    assert record == run.model.record
    assert record.finished
    assert record.results.test == TestResult(run.test.mean, run.test.ci95)
    assert record.results.validation.update == 4
    assert str(run.test) in record.figures.values()
    assert run.model.training["settings"]["updates"] == 4
    assert run.test_runner.dataset.description == "toy (test, 3 classes)"


def test_an_unfinished_run_says_so(stopped):
    record = load_model(stopped / "model").record
    assert not record.finished
    assert record.results.validation.update in (4, 8)
