"""Batch norm by task and dropout by task are what torch would do task by task."""

import pytest
import torch
from helpers_models import CONV, batch_for, noise_for
from helpers_training import RESNET, TINY
from torch import nn

from samovar.data.batches import TaskBatch
from samovar.models.backbones.layers import TaskBatchNorm, dropout, set_norm
from samovar.models.few_shot_model import FewShotModel
from samovar.models.noise import TaskNoise
from samovar.settings.model import ModelSettings


def test_running_norm_answers_a_query_by_itself_and_episode_norm_does_not():
    for mode, independent in (("running", True), ("episode", False)):
        model = FewShotModel(CONV).eval()
        set_norm(model, mode)
        query = batch_for(CONV, queries=5).query
        alone, together = model.embed(query[:, :1]), model.embed(query)[:, :1]
        assert torch.allclose(alone, together, atol=1e-5) == independent


@pytest.mark.parametrize("scale", [True, False])
def test_episode_norm_is_that_of_each_group_by_itself(scale):
    norm = TaskBatchNorm(5, "episode", scale=scale, momentum=0.1)
    nn.init.normal_(norm.bias)
    weight = torch.ones(5)
    if scale:
        weight = nn.init.normal_(norm.weight)
    x = 3 * torch.randn(3 * 4, 5, 6, 6) + 1
    expected = []
    for group in x.split(4):
        variance, mean = torch.var_mean(group, (0, 2, 3), correction=0, keepdim=True)
        standard = (group - mean) / (variance + 1e-5).sqrt()
        expected.append(standard * weight.view(5, 1, 1) + norm.bias.view(5, 1, 1))
    torch.testing.assert_close(norm(x, 3), torch.cat(expected), rtol=1e-4, atol=1e-4)
    torch.testing.assert_close(norm.eval()(x, 3), torch.cat(expected), rtol=1e-4, atol=1e-4)


def test_episode_norm_keeps_the_running_averages_that_torch_would_keep():
    ours, torchs = TaskBatchNorm(5, "episode", scale=True, momentum=0.1), nn.BatchNorm2d(5)
    for _ in range(3):
        x = torch.randn(8, 5, 6, 6) * 3 + 1
        ours(x, 1)
        torchs(x)
    torch.testing.assert_close(ours.running_mean, torchs.running_mean)
    torch.testing.assert_close(ours.running_var, torchs.running_var)
    set_norm(ours, "running")
    torch.testing.assert_close(ours.eval()(x, 1), torchs.eval()(x), rtol=1e-4, atol=1e-4)


def test_dropout_comes_from_the_noise_of_each_task_and_is_off_at_test():
    s = ModelSettings(backbone="conv4", channels=1, size=16, width=8, dropout=0.5, norm="episode")
    model, batch = FewShotModel(s), batch_for(s, tasks=3)
    torch.manual_seed(1)
    first = model(batch, noise_for(batch)).loss
    torch.manual_seed(2)
    torch.testing.assert_close(model(batch, noise_for(batch)).loss, first, rtol=0, atol=0)
    assert model(batch, noise_for(batch, step=1)).loss != first
    alone = [
        model(
            TaskBatch(
                batch.support[t : t + 1],
                batch.support_labels[t : t + 1],
                batch.query[t : t + 1],
                batch.query_labels[t : t + 1],
                3,
            ),
            TaskNoise(0, 0, [t]),
        ).loss
        for t in range(3)
    ]
    torch.testing.assert_close(torch.stack(alone).mean(), first, rtol=1e-4, atol=1e-5)
    model.eval()
    features = model.embed(batch.query)
    torch.testing.assert_close(features, model.embed(batch.query))


@pytest.mark.parametrize("rate", [0.1, 0.3, 0.5, 0.9])
def test_dropout_keeps_the_mean_and_drops_the_given_share(rate):
    x = torch.ones(4, 8, 50, 50)
    dropped = dropout(x, rate, [torch.Generator().manual_seed(i) for i in range(2)])
    # Four standard errors of the share of 80,000 elements.
    bound = 4 * (rate * (1 - rate) / x.numel()) ** 0.5
    assert (dropped == 0).double().mean().item() == pytest.approx(rate, abs=bound)
    assert dropped.mean().item() == pytest.approx(1, abs=bound / (1 - rate))
    assert dropped.unique().tolist() == pytest.approx([0, 1 / (1 - rate)], rel=2e-4)


def test_neighbours_are_dropped_independently():
    """Four elements share a random integer, which must not tie them together."""
    kept = dropout(torch.ones(1, 4, 200, 200), 0.5, [torch.Generator().manual_seed(3)]) > 0
    shares = torch.corrcoef(kept[0].flatten(1).double())
    assert (shares - torch.eye(4)).abs().max() < 4 / 200  # four standard errors


def test_masks_do_not_depend_on_the_order_in_memory():
    x = torch.rand(6, 3, 5, 7) + 1
    masks = []
    for memory_format in (torch.contiguous_format, torch.channels_last):
        generators = [torch.Generator().manual_seed(i) for i in range(3)]
        masks.append(dropout(x.contiguous(memory_format=memory_format), 0.4, generators) > 0)
    assert masks[0].equal(masks[1])


def test_a_rate_of_almost_one_leaves_finite_numbers():
    dropped = dropout(torch.ones(1, 2, 9, 9), 1 - 1e-9, [torch.Generator().manual_seed(0)])
    assert torch.isfinite(dropped).all()


def test_running_averages_of_episode_norm_count_the_spread_between_tasks():
    ours, torchs = (
        TaskBatchNorm(2, "episode", scale=True, momentum=1.0),
        nn.BatchNorm2d(2, momentum=1.0),
    )
    x = torch.randn(6 * 5, 2, 4, 4) + 3 * torch.randn(6, 1, 2, 1, 1).expand(6, 5, 2, 1, 1).reshape(
        30, 2, 1, 1
    )
    ours(x, 6)
    torchs(x)
    torch.testing.assert_close(ours.running_mean, torchs.running_mean)
    torch.testing.assert_close(ours.running_var, torchs.running_var)


def test_synchronised_norm_has_the_same_tensors_and_answers():
    """What GPUs would use; at test it can be compared on the CPU."""
    from samovar.models.backbones.layers import synchronize

    for settings in (TINY.model, RESNET.model):
        model = FewShotModel(settings).eval()
        names, parameters = set(model.state_dict()), len(list(model.parameters()))
        images = torch.randn(1, 4, 3, 12, 12)
        before = model.embed(images)
        synchronize(model)
        assert set(model.state_dict()) == names
        assert len(list(model.parameters())) == parameters
        torch.testing.assert_close(model.eval().embed(images), before)
