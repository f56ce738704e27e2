"""The objectives are the equations written out."""

import pytest
import torch
from helpers_models import batch_for, noise_for
from hypothesis import given, settings
from hypothesis import strategies as st

from samovar.errors import SettingsError
from samovar.models.few_shot_model import FewShotModel
from samovar.models.objectives import (
    OBJECTIVES,
    TaskLoss,
    TrainingTasks,
    cross_entropy,
    monte_carlo,
    register_objective,
    variational,
)
from samovar.settings.model import METHODS, ModelSettings


@given(st.integers(0, 100), st.integers(1, 6))
@settings(max_examples=20)
def test_objectives_are_the_equations_written_out(seed, samples):
    g = torch.Generator().manual_seed(seed)
    logits, labels = (
        torch.randn(2, samples, 5, 3, generator=g),
        torch.randint(3, (2, 5), generator=g),
    )
    divergence = torch.rand(2, generator=g)
    p = torch.stack(
        [logits.softmax(-1)[t, :, torch.arange(5), labels[t]] for t in range(2)]
    )  # (T, L, Q)
    carlo, bound, certain = (
        monte_carlo(logits, labels),
        variational(logits, labels, divergence, 0.3),
        cross_entropy(logits[:, 0], labels),
    )
    torch.testing.assert_close(carlo.loss, -p.mean(1).log().mean(-1))
    torch.testing.assert_close(bound.loss, -p.log().mean((1, 2)) + 0.3 * divergence / 5)
    torch.testing.assert_close(certain.loss, -p[:, 0].log().mean(-1))
    assert (carlo.loss <= -p.log().mean((1, 2)) + 1e-6).all(), "Jensen"
    total = variational(logits, labels, divergence, 0.3, "sum")
    torch.testing.assert_close(total.loss, 5 * bound.loss)
    torch.testing.assert_close(total.nll, bound.nll)


def test_papers_beta_weighs_mean_nll_and_mean_divergence_equally():
    """beta = K / (N d) with K = 75 queries, N = 5, d = 256 is 0.0586: mean NLL + mean KL over the N
    d weights.
    """
    logits, labels = torch.randn(1, 2, 75, 5), torch.randint(5, (1, 75))
    divergence = torch.rand(1, 5, 256)
    objective = variational(logits, labels, divergence.sum((1, 2)), beta=75 / (5 * 256))
    torch.testing.assert_close(objective.loss, objective.nll + divergence.mean((1, 2)))


def mean_of_logits(tasks: TrainingTasks) -> TaskLoss:
    """An objective of a user's own: the cross-entropy at the mean of the posterior."""
    logits = tasks.classifier.mean_logits(tasks.features, tasks.infer_posterior())
    return cross_entropy(logits, tasks.labels)


def test_an_objective_is_added_by_one_call_and_trained_by_its_name():
    register_objective("mean_of_logits", mean_of_logits)
    try:
        settings = ModelSettings(method="mean_of_logits", backbone="identity", size=6)
        batch = batch_for(settings)
        result = FewShotModel(settings)(batch, noise_for(batch))
        result.loss.backward()
        assert result.loss.item() == pytest.approx(result.metrics["nll"].item())
        with pytest.raises(SettingsError, match="already a method"):
            register_objective("mean_of_logits", mean_of_logits)
    finally:
        del METHODS["mean_of_logits"], OBJECTIVES["mean_of_logits"]
