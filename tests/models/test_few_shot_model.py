"""The few-shot model has the paper's sizes, invariances, losses and gradients."""

import pytest
import torch
from helpers_models import (
    CONV,
    FEATURES,
    PROTOTYPES,
    RESNET,
    TADAM,
    TEN,
    batch_for,
    count,
    noise_for,
    set_multipliers,
)
from torch import nn
from torch.nn import functional

from samovar.data.batches import AuxiliaryBatch
from samovar.models.class_means import ClassMeans
from samovar.models.few_shot_model import FewShotModel
from samovar.settings.model import ModelSettings


def test_parameter_counts():
    conv5 = FewShotModel(ModelSettings(backbone="conv5", size=84))
    assert count(conv5.backbone) == 149_184 + 320
    assert count(conv5.prior_network) == 658_434
    assert conv5.backbone.feature_dim == 256
    conv4 = FewShotModel(ModelSettings(backbone="conv4", channels=1, size=28))
    assert count(conv4.backbone) == 111_168 + 256
    assert conv4.backbone.feature_dim == 256
    resnet = FewShotModel(
        ModelSettings(backbone="resnet12", size=84, task_embedding=True, auxiliary_classes=64)
    )
    assert count(resnet.backbone) == 7_996_800
    assert count(resnet.task_embedding) == 7_144_344
    assert count(resnet.prior_network) == 1_575_936
    assert count(resnet.auxiliary_head) == 512 * 64 + 64
    assert count(FewShotModel(PROTOTYPES)) == count(FewShotModel(PROTOTYPES).backbone)


@pytest.mark.parametrize(
    "s", [FEATURES, CONV, RESNET, TEN, PROTOTYPES, TADAM], ids=lambda s: s.backbone + s.classifier
)
def test_order_of_support_and_names_of_classes_do_not_matter(s):
    """Shuffled support: the same prior. Classes renamed: the same prior with its rows renamed."""
    model, batch = FewShotModel(s).eval(), batch_for(s)
    prior = model.task_prior(batch.support, batch.support_labels, 3)
    order = torch.tensor([4, 1, 5, 0, 3, 2])
    shuffled = model.task_prior(batch.support[:, order], batch.support_labels[:, order], 3)
    torch.testing.assert_close(shuffled.weights.mean, prior.weights.mean, rtol=1e-4, atol=1e-5)
    renaming = torch.tensor([2, 0, 1])
    renamed = model.task_prior(batch.support, renaming[batch.support_labels], 3)
    torch.testing.assert_close(
        renamed.weights.mean[:, renaming], prior.weights.mean, rtol=1e-4, atol=1e-5
    )
    torch.testing.assert_close(
        renamed.weights.stddev[:, renaming], prior.weights.stddev, rtol=1e-4, atol=1e-5
    )


def test_posterior_of_a_class_without_queries_is_its_prior():
    model, batch = FewShotModel(FEATURES), batch_for(FEATURES, tasks=1)
    support = ClassMeans.of(batch.support, batch.support_labels, 3)
    query = ClassMeans.of(batch.query, torch.tensor([[0, 0, 2, 2]]), 3)
    divergence = model.posterior(support, query).divergence(model.prior(support))
    assert divergence[0, 1] == 0
    assert (divergence[0, [0, 2]] > 0).all()


def test_divergence_is_zero_without_any_query():
    model, batch = FewShotModel(FEATURES), batch_for(FEATURES)
    support = ClassMeans.of(batch.support, batch.support_labels, 3)
    nothing = ClassMeans.of(batch.query[:, :0], batch.query_labels[:, :0], 3)
    assert model.posterior(support, nothing).divergence(model.prior(support)).abs().max() == 0


def test_separate_networks_differ_and_shared_ones_are_one():
    shared, separate = (
        FewShotModel(FEATURES),
        FewShotModel(ModelSettings(backbone="identity", size=6, shared=False)),
    )
    batch = batch_for(FEATURES)
    support = ClassMeans.of(batch.support, batch.support_labels, 3)
    nothing = ClassMeans.of(batch.query[:, :0], batch.query_labels[:, :0], 3)
    assert shared.posterior_network is None
    assert (separate.posterior(support, nothing).divergence(separate.prior(support)) > 0).all()


@pytest.mark.parametrize("mode", ["running", "episode"])
def test_tasks_of_a_batch_do_not_touch_each_other_at_test(mode):
    s = ModelSettings(backbone="conv4", channels=1, size=16, width=8, norm=mode)
    model, batch = FewShotModel(s).eval(), batch_for(s, tasks=3)
    together = model.task_prior(batch.support, batch.support_labels, 3).weights.mean
    for task in range(3):
        alone = model.task_prior(
            batch.support[task : task + 1], batch.support_labels[task : task + 1], 3
        ).weights.mean
        torch.testing.assert_close(together[task : task + 1], alone, rtol=1e-4, atol=1e-5)


def test_task_embedding_conditions_what_enters_g_and_for_tadam_what_is_classified_too():
    """The loss against the flow written out step by step."""
    for s in (TEN, TADAM):
        model, batch = FewShotModel(s).eval(), batch_for(s)
        set_multipliers(model, 0.7)
        films = model.films(ClassMeans.of(model.embed(batch.support), batch.support_labels, 3))
        support = ClassMeans.of(model.embed(batch.support, films), batch.support_labels, 3)
        plain, conditioned = model.embed(batch.query), model.embed(batch.query, films)
        assert not torch.allclose(plain, conditioned, atol=1e-4)
        if s is TADAM:
            logits = model.classifier.mean_logits(conditioned, model.prior(support))
            expected = functional.cross_entropy(logits.flatten(0, 1), batch.query_labels.flatten())
        else:
            posterior = model.posterior(support, ClassMeans.of(conditioned, batch.query_labels, 3))
            shape = model.classifier.noise_shape(s.samples, plain, posterior)
            logits = model.classifier.sampled_logits(
                plain, posterior, noise_for(batch).normal("weights", *shape)
            )
            labels = batch.query_labels[:, None].expand(-1, s.samples, -1)
            nll = functional.cross_entropy(logits.flatten(0, 2), labels.flatten())
            expected = (
                nll + 1 / (3 * 32) * posterior.divergence(model.prior(support)).sum(-1).mean()
            )
        torch.testing.assert_close(
            model(batch, noise_for(batch)).loss, expected, rtol=1e-4, atol=1e-5
        )


@pytest.mark.parametrize(
    "s",
    [CONV, RESNET, TEN, PROTOTYPES, TADAM],
    ids=["conv", "resnet", "ten", "prototypes", "tadam"],
)
@pytest.mark.parametrize("norm", ["running", "episode"])
def test_gradients_reach_everything_that_should_learn(s, norm):
    model = FewShotModel(ModelSettings(**{**vars(s), "norm": norm}))
    batch = batch_for(s)
    if model.task_embedding is not None:
        set_multipliers(model, 0.1)
    output = model(batch, noise_for(batch))
    output.loss.backward()
    idle = [
        name for name, p in model.named_parameters() if p.grad is None or p.grad.abs().max() == 0
    ]
    assert [name for name in idle if not name.startswith("auxiliary_head")] == []
    assert all(torch.isfinite(value) for value in output.metrics.values())


def test_versa_leaves_the_posterior_alone_and_separate_samovar_trains_it():
    for method, shared in (("versa", True), ("samovar", False)):
        s = ModelSettings(method=method, backbone="identity", size=6, shared=shared)
        model, batch = FewShotModel(s), batch_for(s)
        output = model(batch, noise_for(batch))
        output.loss.backward()
        assert ("kl" in output.metrics) == (method == "samovar")
        assert all(p.grad is not None and p.grad.abs().max() > 0 for p in model.parameters())


def test_versas_loss_is_the_log_of_the_mean_over_classifiers_from_the_prior():
    s = ModelSettings(method="versa", backbone="identity", size=6, samples=5)
    model, batch = FewShotModel(s), batch_for(s)
    prior = model.prior(ClassMeans.of(batch.support, batch.support_labels, 3))
    shape = model.classifier.noise_shape(s.samples, batch.query, prior)
    logits = model.classifier.sampled_logits(
        batch.query, prior, noise_for(batch).normal("weights", *shape)
    )
    chosen = batch.query_labels[:, None, :, None].expand(-1, s.samples, -1, 1)
    expected = -logits.softmax(-1).gather(-1, chosen).mean(1).log().mean()
    torch.testing.assert_close(model(batch, noise_for(batch)).loss, expected)


def test_auxiliary_task():
    model = FewShotModel(TEN)
    output = model(AuxiliaryBatch(torch.randn(9, 3, 16, 16), torch.arange(9) % 7))
    output.loss.backward()
    learning = {name.split(".")[0] for name, p in model.named_parameters() if p.grad is not None}
    assert learning == {"backbone", "auxiliary_head"}


def test_export_of_feature_extractor_and_inference_network():
    for s in (CONV, RESNET):
        model = FewShotModel(s).eval()
        images = torch.randn(4, s.channels, 16, 16)
        exported = torch.export.export(model.backbone, (images,))
        torch.testing.assert_close(exported.module()(images), model.backbone(images))
        means = torch.randn(1, 3, model.backbone.feature_dim)
        exported = torch.export.export(model.prior_network, (means,))
        expected = model.prior_network(means)
        for ours, theirs in zip(exported.module()(means), expected, strict=True):
            assert (ours is None) == (theirs is None)
            if theirs is not None:
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
    with pytest.raises(ValueError, match="together with backbone"):
        FewShotModel(s)


@pytest.mark.parametrize(("s", "passes"), [(CONV, 2), (TEN, 4), (TADAM, 3), (PROTOTYPES, 2)])
def test_the_backbone_is_passed_as_often_as_needed(s, passes):
    """SAMOVAR with TEN: support and query, plain and conditioned; TADAM needs no plain query."""
    model, batch, calls = FewShotModel(s), batch_for(s), []
    model.backbone.register_forward_hook(lambda *_: calls.append(1))
    model(batch, noise_for(batch))
    assert len(calls) == passes


def test_a_class_without_support_is_refused_at_test():
    model, batch = FewShotModel(FEATURES), batch_for(FEATURES)
    with pytest.raises(ValueError, match="at least one support image"):
        model.task_prior(batch.support, batch.support_labels, way=4)
