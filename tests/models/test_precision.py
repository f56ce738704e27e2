"""Channels-last and bfloat16 give the same answers; after the features precision is full."""

import pytest
import torch
from helpers_models import CONV, TEN, batch_for, noise_for

from samovar.models.few_shot_model import FewShotModel
from samovar.settings.model import ModelSettings


@pytest.mark.parametrize("s", [CONV, TEN], ids=["conv", "ten"])
def test_channels_last_and_bfloat16_give_the_same_answers(s):
    model, batch = FewShotModel(s).eval(), batch_for(s)
    prior = model.task_prior(batch.support, batch.support_labels, 3)
    last = FewShotModel(s).to(memory_format=torch.channels_last).eval()
    images = (
        batch.support.flatten(0, 1)
        .contiguous(memory_format=torch.channels_last)
        .unflatten(0, (2, -1))
    )
    torch.testing.assert_close(
        last.task_prior(images, batch.support_labels, 3).weights.mean,
        prior.weights.mean,
        rtol=1e-3,
        atol=1e-4,
    )
    with torch.autocast("cpu", torch.bfloat16):
        half = model.task_prior(batch.support, batch.support_labels, 3)
    assert half.weights.mean.dtype == torch.float32
    scale = prior.weights.mean.abs().max().item()
    torch.testing.assert_close(half.weights.mean, prior.weights.mean, rtol=0, atol=0.05 * scale)


def test_mixed_precision_leaves_what_comes_after_the_features_alone():
    """Ready-made features have no backbone to round: under autocast the loss is the same to the
    bit.
    """
    for classifier in ("linear", "cosine"):
        s = ModelSettings(backbone="identity", size=6, classifier=classifier)
        model, batch = FewShotModel(s), batch_for(s)
        expected = model(batch, noise_for(batch))
        with torch.autocast("cpu", torch.bfloat16):
            mixed = model(batch, noise_for(batch))
        assert torch.equal(mixed.loss, expected.loss)
        assert mixed.loss.dtype == torch.float32
