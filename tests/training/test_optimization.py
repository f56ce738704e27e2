"""Step sizes, weight decay, clipping and auxiliary updates are those of the paper."""

import numpy as np
import pytest
import torch
from helpers_training import RESNET, TINY

from samovar.errors import SettingsError
from samovar.models.few_shot_model import FewShotModel
from samovar.settings.training import OptimizerSettings
from samovar.training.optimization import (
    decay_and_clip,
    has_auxiliary_step,
    loss_optimizers,
    step_size,
    weight_decays,
)


def test_schedules():
    drops = OptimizerSettings("sgd", 0.1, schedule="drops", drops=(10, 15))
    assert [round(step_size(drops, t, 20), 6) for t in (0, 9, 10, 14, 15, 19)] == [
        0.1,
        0.1,
        0.01,
        0.01,
        0.001,
        0.001,
    ]
    cycle = [step_size(OptimizerSettings(learning_rate=1.0), t, 100) for t in range(101)]
    assert np.argmax(cycle) == 30
    assert cycle[30] == pytest.approx(1)
    assert cycle[100] == pytest.approx(0)
    assert cycle[:31] == sorted(cycle[:31])
    assert step_size(OptimizerSettings(schedule="constant"), 5, 10) == 1e-3


def test_decay_is_for_kernels_and_multipliers_by_their_part():
    settings = OptimizerSettings(
        decay_extractor=1.0,
        decay_task_embedding=2.0,
        decay_auxiliary=3.0,
        decay_inference=4.0,
        decay_multipliers=5.0,
    )
    model = FewShotModel(RESNET.model)
    decays = weight_decays(model, settings)
    parts = {"backbone": 1.0, "task_embedding": 2.0, "auxiliary_head": 3.0}
    for name, parameter in model.named_parameters():
        expected = parts.get(name.split(".")[0], 4.0) if parameter.ndim > 1 else 0.0
        assert decays.get(name, 0.0) == (5.0 if "multipliers" in name else expected), name


class WithScale(FewShotModel):
    """A model with a part of its own."""

    def __init__(self, settings, backbone=None, seed=0) -> None:
        super().__init__(settings, backbone, seed)
        self.scale = torch.nn.Linear(2, 3)


def test_a_forgotten_weight_decay_is_an_error_that_names_the_parameter():
    settings = OptimizerSettings(decay_auxiliary=3.0)
    with pytest.raises(SettingsError, match=r"'scale.weight'.*weight_decays = {\"scale\":"):
        weight_decays(WithScale(RESNET.model), settings)

    class Declared(WithScale):
        weight_decays = {"scale": "decay_auxiliary"}  # noqa: RUF012

    declared = weight_decays(Declared(RESNET.model), settings)
    assert declared == {"scale.weight": 3.0, "auxiliary_head.weight": 3.0}

    class Misspelt(WithScale):
        weight_decays = {"scale": "decay_everything"}  # noqa: RUF012

    with pytest.raises(SettingsError, match="'decay_everything' for 'scale'"):
        weight_decays(Misspelt(RESNET.model), settings)


def test_each_loss_moves_its_own_parameters_in_the_order_of_the_model():
    model = FewShotModel(RESNET.model)
    name_of = {parameter: name for name, parameter in model.named_parameters()}
    few_shot, auxiliary = loss_optimizers(model, RESNET.optimizer)
    names = [name_of[parameter] for parameter, _ in few_shot.parameters]
    assert names == [name for name in name_of.values() if not name.startswith("auxiliary_head")]
    names = [name_of[parameter] for parameter, _ in auxiliary.parameters]
    parts = ("backbone", "auxiliary_head")
    assert names == [name for name in name_of.values() if name.split(".")[0] in parts]
    alone = loss_optimizers(FewShotModel(TINY.model), TINY.optimizer)
    assert [loss.name for loss in alone] == ["few_shot"]


def test_auxiliary_updates_become_rarer():
    """With probability 0.9^floor(12 t / T): always in the first twelfth, then less often."""
    for twelfth in range(12):
        steps = [
            has_auxiliary_step(0, update, 12_000)
            for update in range(1000 * twelfth, 1000 * (twelfth + 1))
        ]
        assert np.mean(steps) == pytest.approx(0.9**twelfth, abs=0.0 if twelfth == 0 else 0.05)


def test_decay_is_inside_the_clipped_gradient_and_clipping_is_by_tensor():
    a, b = (torch.nn.Parameter(torch.full((4,), value)) for value in (3.0, 1.0))
    a.grad, b.grad = torch.zeros(4), torch.full((4,), 0.01)
    decay_and_clip([(a, 0.5), (b, 0.0)], OptimizerSettings(clip=1.0))
    torch.testing.assert_close(
        a.grad, torch.full((4,), 0.5), rtol=1e-4, atol=1e-5
    )  # 1.5 each, norm 3, clipped to 1
    torch.testing.assert_close(b.grad, torch.full((4,), 0.01))  # untouched
    a.grad = torch.full((4,), 1.5)
    decay_and_clip([(a, 0.0), (b, 0.0)], OptimizerSettings(clip=1.0, clip_by="global"))
    assert torch.cat([a.grad, b.grad]).norm().item() == pytest.approx(1, rel=1e-4)
