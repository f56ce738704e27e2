"""The task embedding is the identity at the start, learns, and scales and shifts as written."""

import torch
from helpers_models import TEN, batch_for, noise_for
from torch.nn import functional

from samovar.models.class_means import ClassMeans
from samovar.models.few_shot_model import FewShotModel
from samovar.models.task_embedding import Film, TaskMLP


def test_task_embedding_is_the_identity_at_the_start_and_learns_after_one_update():
    model, batch = FewShotModel(TEN), batch_for(TEN)
    model.eval()
    plain = model.embed(batch.support)
    films = model.films(ClassMeans.of(plain, batch.support_labels, 3))
    torch.testing.assert_close(model.embed(batch.support, films), plain)
    model.train()
    optimizer = torch.optim.SGD(model.parameters(), 0.1)
    for step in range(2):
        optimizer.zero_grad()
        model(batch, noise_for(batch)).loss.backward()
        inner = [
            p.grad.abs().max()
            for p in (
                *model.task_embedding.gammas.parameters(),
                *model.task_embedding.betas.parameters(),
            )
        ]
        assert min(p.grad.abs() for p in model.task_embedding.multipliers) > 0
        assert (max(inner) > 0) == (step > 0)
        optimizer.step()
    model.eval()
    films = model.films(ClassMeans.of(plain, batch.support_labels, 3))
    assert not torch.allclose(model.embed(batch.support, films), plain, atol=1e-6)


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
