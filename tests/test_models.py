"""The model family: parameter counts, invariances, batch norm, TEN, gradients, number formats."""

from copy import deepcopy
from dataclasses import replace

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import nn
from torch.nn import functional

from samovar.config import ModelSettings
from samovar.errors import SettingsError
from samovar.models.conv import Conv
from samovar.models.dropout import dropout
from samovar.models.model import FewShotModel
from samovar.models.norm import NormMode, TaskBatchNorm, set_norm
from samovar.models.resnet12 import Film
from samovar.models.tasks import AuxiliaryBatch, Sums, TaskBatch
from samovar.models.ten import TaskMLP
from samovar.task_noise import TaskNoise

FEATURES = ModelSettings(backbone="identity", size=6)
CONV = ModelSettings(backbone="conv4", channels=1, size=16, width=8)
RESNET = ModelSettings(backbone="resnet12", classifier="cosine", size=16, width=4)
TEN = ModelSettings(
    backbone="resnet12", classifier="cosine", size=16, width=4, task_embedding=True, auxiliary_classes=7
)
PROTOTYPES = ModelSettings(
    method="prototypes", backbone="conv4", classifier="squared", alpha=1.0, channels=1, size=16, width=8
)
TADAM = ModelSettings(
    method="prototypes", backbone="resnet12", classifier="euclidean", alpha=7.5, size=16, width=4, task_embedding=True
)


def batch_for(
    s: ModelSettings, tasks: int = 2, way: int = 3, shot: int = 2, queries: int = 4, seed: int = 0
) -> TaskBatch:
    generator = torch.Generator().manual_seed(seed)
    shape = (s.size,) if s.backbone == "identity" else (s.channels, s.size, s.size)
    support_labels = torch.arange(way).repeat_interleave(shot).repeat(tasks, 1)
    query_labels = torch.randint(way, (tasks, queries), generator=generator)
    support = torch.randn(tasks, way * shot, *shape, generator=generator)
    query = torch.randn(tasks, queries, *shape, generator=generator)
    return TaskBatch(support, support_labels, query, query_labels, way)


def noise_for(batch: TaskBatch, step: int = 0) -> TaskNoise:
    return TaskNoise(0, step, range(len(batch.support)))


def set_multipliers(model: FewShotModel, value: float) -> None:
    for multiplier in model.task_embedding.multipliers:
        nn.init.constant_(multiplier, value)


def count(*modules: nn.Module) -> int:
    return sum(parameter.numel() for module in modules for parameter in module.parameters())


def test_parameter_counts():
    conv5 = FewShotModel(ModelSettings(backbone="conv5", size=84))
    assert count(conv5.backbone) == 149_184 + 320
    assert count(conv5.prior_network) == 658_434
    assert conv5.backbone.feature_dim == 256
    conv4 = FewShotModel(ModelSettings(backbone="conv4", channels=1, size=28))
    assert count(conv4.backbone) == 111_168 + 256
    assert conv4.backbone.feature_dim == 256
    resnet = FewShotModel(ModelSettings(backbone="resnet12", size=84, task_embedding=True, auxiliary_classes=64))
    assert count(resnet.backbone) == 7_996_800
    assert count(resnet.task_embedding) == 7_144_344
    assert count(resnet.prior_network) == 1_575_936
    assert count(resnet.auxiliary_head) == 512 * 64 + 64
    assert count(FewShotModel(PROTOTYPES)) == count(FewShotModel(PROTOTYPES).backbone)


@pytest.mark.parametrize("classifier", ["linear", "cosine"])
def test_two_networks_have_as_many_parameters_as_the_shared_one(classifier):
    settings = ModelSettings(backbone="conv5", size=84, classifier=classifier)
    shared, separate = FewShotModel(settings), FewShotModel(replace(settings, shared=False))
    both = count(separate.prior_network, separate.posterior_network)
    assert both == pytest.approx(count(shared.prior_network), rel=0.005)


@pytest.mark.parametrize(("pools", "size"), [(3, 11), (4, 6)])
def test_three_or_four_poolings_of_resnet(pools, size):
    model = FewShotModel(ModelSettings(backbone="resnet12", size=84, width=2, pools=pools))
    h = torch.randn(1, 3, 84, 84)
    for block in model.backbone.blocks:
        h = block(h, 1, None)
    assert h.shape == (1, 16, size, size)


@pytest.mark.parametrize("s", [FEATURES, CONV, RESNET, TEN, PROTOTYPES, TADAM], ids=lambda s: s.backbone + s.classifier)
def test_order_of_support_and_names_of_classes_do_not_matter(s):
    """Shuffled support: the same prior. Classes renamed: the same prior with its rows renamed."""
    model, batch = FewShotModel(s).eval(), batch_for(s)
    prior = model.task_prior(batch.support, batch.support_labels, 3)
    order = torch.tensor([4, 1, 5, 0, 3, 2])
    shuffled = model.task_prior(batch.support[:, order], batch.support_labels[:, order], 3)
    torch.testing.assert_close(shuffled.weights.mean, prior.weights.mean, rtol=1e-4, atol=1e-5)
    renaming = torch.tensor([2, 0, 1])
    renamed = model.task_prior(batch.support, renaming[batch.support_labels], 3)
    torch.testing.assert_close(renamed.weights.mean[:, renaming], prior.weights.mean, rtol=1e-4, atol=1e-5)
    torch.testing.assert_close(renamed.weights.stddev[:, renaming], prior.weights.stddev, rtol=1e-4, atol=1e-5)


@given(st.lists(st.integers(0, 3), min_size=8, max_size=8), st.integers(0, 100))
@settings(max_examples=25, deadline=None)
def test_sums_are_those_of_a_loop_over_classes_for_any_unequal_shots(labels, seed):
    features = torch.randn(1, 12, 5, generator=torch.Generator().manual_seed(seed))
    labels = torch.tensor([[0, 1, 2, 3, *labels]])
    sums = Sums.of(features, labels, 4)
    for n in range(4):
        torch.testing.assert_close(sums.means[0, n], features[0, labels[0] == n].mean(0))


def test_posterior_of_a_class_without_queries_is_its_prior():
    model, batch = FewShotModel(FEATURES), batch_for(FEATURES, tasks=1)
    support = Sums.of(batch.support, batch.support_labels, 3)
    query = Sums.of(batch.query, torch.tensor([[0, 0, 2, 2]]), 3)
    divergence = model.posterior(support, query).divergence(model.prior(support))
    assert divergence[0, 1] == 0
    assert (divergence[0, [0, 2]] > 0).all()


def test_divergence_is_zero_without_any_query():
    model, batch = FewShotModel(FEATURES), batch_for(FEATURES)
    support = Sums.of(batch.support, batch.support_labels, 3)
    nothing = Sums.of(batch.query[:, :0], batch.query_labels[:, :0], 3)
    assert model.posterior(support, nothing).divergence(model.prior(support)).abs().max() == 0


def test_union_weighs_every_image_equally():
    batch = batch_for(FEATURES)
    union = Sums.of(batch.support, batch.support_labels, 3) | Sums.of(batch.query, batch.query_labels, 3)
    together = Sums.of(
        torch.cat([batch.support, batch.query], 1), torch.cat([batch.support_labels, batch.query_labels], 1), 3
    )
    torch.testing.assert_close(union.means, together.means)


def test_separate_networks_differ_and_shared_ones_are_one():
    shared, separate = FewShotModel(FEATURES), FewShotModel(ModelSettings(backbone="identity", size=6, shared=False))
    batch = batch_for(FEATURES)
    support = Sums.of(batch.support, batch.support_labels, 3)
    nothing = Sums.of(batch.query[:, :0], batch.query_labels[:, :0], 3)
    assert shared.posterior_network is None
    assert (separate.posterior(support, nothing).divergence(separate.prior(support)) > 0).all()


def test_running_norm_answers_a_query_by_itself_and_episode_norm_does_not():
    for mode, independent in (("running", True), ("episode", False)):
        model = FewShotModel(CONV).eval()
        set_norm(model, mode)
        query = batch_for(CONV, queries=5).query
        alone, together = model.embed(query[:, :1]), model.embed(query)[:, :1]
        assert torch.allclose(alone, together, atol=1e-5) == independent


@pytest.mark.parametrize("scale", [True, False])
def test_episode_norm_of_all_groups_at_once_is_the_loop_over_groups(scale):
    norm = TaskBatchNorm(5, "episode", scale=scale, momentum=0.1)
    nn.init.normal_(norm.bias)
    if scale:
        nn.init.normal_(norm.weight)
    x = torch.randn(3 * 4, 5, 6, 6)
    expected = torch.cat(
        [functional.batch_norm(g, None, None, norm.weight, norm.bias, True, 0, 1e-5) for g in x.split(4)]
    )
    torch.testing.assert_close(norm(x, 3), expected, rtol=1e-4, atol=1e-4)
    torch.testing.assert_close(norm.eval()(x, 3), expected, rtol=1e-4, atol=1e-4)


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


@pytest.mark.parametrize("mode", ["running", "episode"])
def test_tasks_of_a_batch_do_not_touch_each_other_at_test(mode):
    s = ModelSettings(backbone="conv4", channels=1, size=16, width=8, norm=mode)
    model, batch = FewShotModel(s).eval(), batch_for(s, tasks=3)
    together = model.task_prior(batch.support, batch.support_labels, 3).weights.mean
    for task in range(3):
        alone = model.task_prior(batch.support[task : task + 1], batch.support_labels[task : task + 1], 3).weights.mean
        torch.testing.assert_close(together[task : task + 1], alone, rtol=1e-4, atol=1e-5)


def test_task_embedding_is_the_identity_at_the_start_and_learns_after_one_update():
    model, batch = FewShotModel(TEN), batch_for(TEN)
    model.eval()
    plain = model.embed(batch.support)
    films = model.films(Sums.of(plain, batch.support_labels, 3))
    torch.testing.assert_close(model.embed(batch.support, films), plain)
    model.train()
    optimizer = torch.optim.SGD(model.parameters(), 0.1)
    for step in range(2):
        optimizer.zero_grad()
        model(batch, noise_for(batch)).loss.backward()
        inner = [
            p.grad.abs().max()
            for p in (*model.task_embedding.gammas.parameters(), *model.task_embedding.betas.parameters())
        ]
        assert min(p.grad.abs() for p in model.task_embedding.multipliers) > 0
        assert (max(inner) > 0) == (step > 0)
        optimizer.step()
    model.eval()
    films = model.films(Sums.of(plain, batch.support_labels, 3))
    assert not torch.allclose(model.embed(batch.support, films), plain, atol=1e-6)


def test_task_embedding_conditions_what_enters_g_and_for_tadam_what_is_classified_too():
    """The loss against the flow written out step by step."""
    for s in (TEN, TADAM):
        model, batch = FewShotModel(s).eval(), batch_for(s)
        set_multipliers(model, 0.7)
        films = model.films(Sums.of(model.embed(batch.support), batch.support_labels, 3))
        support = Sums.of(model.embed(batch.support, films), batch.support_labels, 3)
        plain, conditioned = model.embed(batch.query), model.embed(batch.query, films)
        assert not torch.allclose(plain, conditioned, atol=1e-4)
        if s is TADAM:
            logits = model.classifier.mean_logits(conditioned, model.prior(support))
            expected = functional.cross_entropy(logits.flatten(0, 1), batch.query_labels.flatten())
        else:
            posterior = model.posterior(support, Sums.of(conditioned, batch.query_labels, 3))
            shape = model.classifier.noise_shape(s.samples, plain, posterior)
            logits = model.classifier.sampled_logits(plain, posterior, noise_for(batch).normal("weights", *shape))
            labels = batch.query_labels[:, None].expand(-1, s.samples, -1)
            nll = functional.cross_entropy(logits.flatten(0, 2), labels.flatten())
            expected = nll + 1 / (3 * 32) * posterior.divergence(model.prior(support)).sum(-1).mean()
        torch.testing.assert_close(model(batch, noise_for(batch)).loss, expected, rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize(
    "s", [CONV, RESNET, TEN, PROTOTYPES, TADAM], ids=["conv", "resnet", "ten", "prototypes", "tadam"]
)
@pytest.mark.parametrize("norm", ["running", "episode"])
def test_gradients_reach_everything_that_should_learn(s, norm):
    model = FewShotModel(ModelSettings(**{**vars(s), "norm": norm}))
    batch = batch_for(s)
    if model.task_embedding is not None:
        set_multipliers(model, 0.1)
    output = model(batch, noise_for(batch))
    output.loss.backward()
    idle = [name for name, p in model.named_parameters() if p.grad is None or p.grad.abs().max() == 0]
    assert [name for name in idle if not name.startswith("auxiliary_head")] == []
    assert all(torch.isfinite(value) for value in output.figures.values())


def test_versa_leaves_the_posterior_alone_and_separate_samovar_trains_it():
    for method, shared in (("versa", True), ("samovar", False)):
        s = ModelSettings(method=method, backbone="identity", size=6, shared=shared)
        model, batch = FewShotModel(s), batch_for(s)
        output = model(batch, noise_for(batch))
        output.loss.backward()
        assert ("kl" in output.figures) == (method == "samovar")
        assert all(p.grad is not None and p.grad.abs().max() > 0 for p in model.parameters())


def test_versas_loss_is_the_log_of_the_mean_over_classifiers_from_the_prior():
    s = ModelSettings(method="versa", backbone="identity", size=6, samples=5)
    model, batch = FewShotModel(s), batch_for(s)
    prior = model.prior(Sums.of(batch.support, batch.support_labels, 3))
    shape = model.classifier.noise_shape(s.samples, batch.query, prior)
    logits = model.classifier.sampled_logits(batch.query, prior, noise_for(batch).normal("weights", *shape))
    chosen = batch.query_labels[:, None, :, None].expand(-1, s.samples, -1, 1)
    expected = -logits.softmax(-1).gather(-1, chosen).mean(1).log().mean()
    torch.testing.assert_close(model(batch, noise_for(batch)).loss, expected)


def test_a_task_mlp_has_skips_where_widths_match():
    network, c = TaskMLP(4, 3), torch.randn(2, 4)
    first, second, third = network.layers
    h = functional.silu(first(c))
    h = functional.silu(h + second(h))
    torch.testing.assert_close(network(c), h + third(h))


def test_film_scales_by_one_plus_gamma_and_adds_beta():
    x, gamma, beta = torch.randn(6, 3, 2, 2), torch.randn(2, 3), torch.randn(2, 3)
    filmed = Film(gamma, beta)(x)
    for image in range(6):
        task = image // 3
        expected = x[image] * (1 + gamma[task])[:, None, None] + beta[task][:, None, None]
        torch.testing.assert_close(filmed[image], expected)


def test_auxiliary_task():
    model = FewShotModel(TEN)
    output = model(AuxiliaryBatch(torch.randn(9, 3, 16, 16), torch.arange(9) % 7))
    output.loss.backward()
    learning = {name.split(".")[0] for name, p in model.named_parameters() if p.grad is not None}
    assert learning == {"backbone", "auxiliary_head"}


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


def test_dropout_keeps_the_mean():
    x = torch.ones(4, 8, 50, 50)
    dropped = dropout(x, 0.3, [torch.Generator().manual_seed(i) for i in range(2)])
    assert dropped.mean().item() == pytest.approx(1, abs=0.01)
    assert dropped.unique().tolist() == pytest.approx([0, 1 / 0.7])


def test_the_seed_decides_the_first_values_and_the_global_state_is_left_alone():
    state = torch.random.get_rng_state()
    first, again, other = (FewShotModel(TEN, seed=seed) for seed in (0, 0, 1))
    assert torch.equal(torch.random.get_rng_state(), state)
    for a, b, c in zip(first.parameters(), again.parameters(), other.parameters(), strict=True):
        assert torch.equal(a, b)
        drawn = a.ndim > 1
        assert torch.equal(a, c) != drawn
    resnet = FewShotModel(ModelSettings(backbone="resnet12", width=32, classifier="cosine"))
    weight = resnet.backbone.blocks[2].convolutions[1].weight
    assert weight.var().item() == pytest.approx(0.2 / (128 * 9), rel=0.02)
    conv = FewShotModel(ModelSettings(backbone="conv4")).backbone.convolutions[1].weight
    assert conv.var().item() == pytest.approx(2 / (2 * 64 * 9), rel=0.03)


@pytest.mark.parametrize("s", [CONV, TEN], ids=["conv", "ten"])
def test_channels_last_and_bfloat16_give_the_same_answers(s):
    model, batch = FewShotModel(s).eval(), batch_for(s)
    prior = model.task_prior(batch.support, batch.support_labels, 3)
    last = FewShotModel(s).to(memory_format=torch.channels_last).eval()
    images = batch.support.flatten(0, 1).contiguous(memory_format=torch.channels_last).unflatten(0, (2, -1))
    torch.testing.assert_close(
        last.task_prior(images, batch.support_labels, 3).weights.mean, prior.weights.mean, rtol=1e-3, atol=1e-4
    )
    with torch.autocast("cpu", torch.bfloat16):
        half = model.task_prior(batch.support, batch.support_labels, 3)
    assert half.weights.mean.dtype == torch.float32
    scale = prior.weights.mean.abs().max().item()
    torch.testing.assert_close(half.weights.mean, prior.weights.mean, rtol=0, atol=0.05 * scale)


def test_export_of_feature_extractor_and_inference_network():
    for s in (CONV, RESNET):
        model = FewShotModel(s).eval()
        images = torch.randn(4, s.channels, 16, 16)
        exported = torch.export.export(model.backbone, (images,))
        torch.testing.assert_close(exported.module()(images), model.backbone(images))
        means = torch.randn(1, 3, model.backbone.feature_dim)
        exported = torch.export.export(model.prior_network, (means,))
        for ours, theirs in zip(exported.module()(means), model.prior_network(means), strict=True):
            torch.testing.assert_close(ours, theirs)


def test_a_module_of_the_users_own():
    class Own(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.layer = nn.Linear(3 * 8 * 8, 6)

        def forward(self, images: torch.Tensor) -> torch.Tensor:
            return self.layer(images.flatten(1))

    own = Own()
    before = own.layer.weight.clone()
    s = ModelSettings(backbone="custom", size=6)
    model = FewShotModel(s, backbone=own)
    assert torch.equal(own.layer.weight, before), "its first values are the user's"
    batch = batch_for(ModelSettings(size=8))
    model(batch, noise_for(batch)).loss.backward()
    assert own.layer.weight.grad.abs().max() > 0
    with pytest.raises(ValueError, match="go together"):
        FewShotModel(s)


@pytest.mark.parametrize(
    "wrong",
    [
        {"method": "prototypes"},
        {"classifier": "euclidean"},
        {"task_embedding": True},
        {"shared": False, "backbone": "resnet12"},
        {"dropout": 1.0},
        {"dropout": 0.5, "backbone": "resnet12"},
        {"beta": -1.0},
        {"samples": 0},
    ],
)
def test_settings_that_make_no_sense(wrong):
    with pytest.raises(SettingsError):
        ModelSettings(**wrong)


def test_mixed_precision_leaves_what_comes_after_the_features_alone():
    """Ready-made features have no backbone to round: under autocast the loss is the same to the bit."""
    for classifier in ("linear", "cosine"):
        s = ModelSettings(backbone="identity", size=6, classifier=classifier)
        model, batch = FewShotModel(s), batch_for(s)
        expected = model(batch, noise_for(batch))
        with torch.autocast("cpu", torch.bfloat16):
            mixed = model(batch, noise_for(batch))
        assert torch.equal(mixed.loss, expected.loss)
        assert mixed.loss.dtype == torch.float32


def test_a_cosine_classifier_has_no_bias_networks():
    assert model_prior("cosine").biases is None
    assert model_prior("linear").biases is not None


def model_prior(classifier: str):
    s = ModelSettings(backbone="identity", size=6, classifier=classifier)
    batch = batch_for(s)
    return FewShotModel(s).task_prior(batch.support, batch.support_labels, 3)


@pytest.mark.parametrize(("s", "passes"), [(CONV, 2), (TEN, 4), (TADAM, 3), (PROTOTYPES, 2)])
def test_the_backbone_is_passed_as_often_as_needed(s, passes):
    """SAMOVAR with TEN: support and query, plain and conditioned; TADAM needs no plain query."""
    model, batch, calls = FewShotModel(s), batch_for(s), []
    model.backbone.register_forward_hook(lambda *_: calls.append(1))
    model(batch, noise_for(batch))
    assert len(calls) == passes


def test_running_averages_of_episode_norm_count_the_spread_between_tasks():
    ours, torchs = TaskBatchNorm(2, "episode", scale=True, momentum=1.0), nn.BatchNorm2d(2, momentum=1.0)
    x = torch.randn(6 * 5, 2, 4, 4) + 3 * torch.randn(6, 1, 2, 1, 1).expand(6, 5, 2, 1, 1).reshape(30, 2, 1, 1)
    ours(x, 6)
    torchs(x)
    torch.testing.assert_close(ours.running_mean, torchs.running_mean)
    torch.testing.assert_close(ours.running_var, torchs.running_var)


def test_a_class_without_support_is_refused_at_test():
    model, batch = FewShotModel(FEATURES), batch_for(FEATURES)
    with pytest.raises(ValueError, match="at least one support image"):
        model.task_prior(batch.support, batch.support_labels, way=4)


def test_last_skip_is_a_choice():
    with_skip, without = (FewShotModel(ModelSettings(**{**vars(RESNET), "last_skip": on})) for on in (True, False))
    x = torch.randn(1, 2, 32)
    torch.testing.assert_close(with_skip.prior_network(x)[0] - without.prior_network(x)[0], _before_last(without, x))


def _before_last(model: FewShotModel, x: torch.Tensor) -> torch.Tensor:
    for layer in model.prior_network.weight_mean.layers[:2]:
        x = x + functional.silu(layer(x))
    return x


@pytest.mark.parametrize("mode", ["running", "episode"])
@pytest.mark.parametrize("training", [True, False])
def test_conv_pools_early_and_changes_no_number(mode: NormMode, training: bool) -> None:
    """Its blocks are VERSA's conv, norm, ReLU, dropout, max-pool, to the bit, whatever order is computed."""
    torch.manual_seed(0)
    conv, x = Conv(4, 1, 28, 8, 0.5, mode), torch.randn(12, 1, 28, 28)
    with torch.no_grad():
        for norm in conv.norms:
            for tensor in (norm.running_mean, norm.running_var, norm.bias):
                tensor.uniform_(0.5, 2)
    conv.train(training)
    as_written = deepcopy(conv)

    def noise() -> list[torch.Generator] | None:
        return [torch.Generator().manual_seed(task) for task in range(3)] if training else None

    h, generators = x, noise()
    for convolution, norm in zip(as_written.convolutions, as_written.norms, strict=True):
        h = functional.relu(norm(convolution(h), 3))
        h = dropout(h, 0.5, generators) if generators else h
        h = functional.max_pool2d(h, 2, ceil_mode=True)
    features = conv(x, 3, noise())
    assert torch.equal(features, h.flatten(1))
    if training:
        (features.square().sum() + h.square().sum()).backward()
        assert all(torch.equal(a.grad, b.grad) for a, b in zip(conv.parameters(), as_written.parameters(), strict=True))
