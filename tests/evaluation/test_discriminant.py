"""Linear discriminant analysis is scikit-learn's, computed from small matrices."""

import numpy as np
import pytest
import torch
from sklearn.covariance import ledoit_wolf_shrinkage as sklearn_shrinkage
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis

from samovar.evaluation.discriminant import discriminant_logits, ledoit_wolf_shrinkage

WAY = 3


def task(shot: int, dimensions: int, seed: int = 0) -> tuple[torch.Tensor, ...]:
    """A batch of one task: support, labels, query, class means."""
    noise = torch.Generator().manual_seed(seed)
    means = 2 * torch.randn(WAY, dimensions, generator=noise, dtype=torch.float64)
    labels = torch.arange(WAY).repeat_interleave(shot)
    support = means[labels] + torch.randn(
        len(labels), dimensions, generator=noise, dtype=torch.float64
    )
    query = torch.randn(7, dimensions, generator=noise, dtype=torch.float64)
    own = torch.stack([support[labels == label].mean(0) for label in range(WAY)])
    return support[None], labels[None], query[None], own[None]


@pytest.mark.parametrize(("shot", "dimensions"), [(2, 12), (5, 12), (30, 4)])
def test_shrinkage_and_probabilities_are_those_of_scikit_learn(shot, dimensions):
    support, labels, query, means = task(shot, dimensions)
    residuals = (support - means[:, labels[0]])[0]
    gram = (residuals @ residuals.T / len(residuals))[None]
    shrinkage = sklearn_shrinkage(residuals.numpy(), assume_centered=True)
    assert ledoit_wolf_shrinkage(gram, dimensions).item() == pytest.approx(shrinkage)
    model = LinearDiscriminantAnalysis(solver="lsqr", shrinkage=shrinkage)
    model.fit(support[0].numpy(), labels[0].numpy())
    ours = discriminant_logits(support, labels, query, means)[0].softmax(-1)
    np.testing.assert_allclose(ours, model.predict_proba(query[0].numpy()), atol=1e-8)


def test_tasks_do_not_see_each_other():
    tasks = [task(4, 6, seed) for seed in range(3)]
    together = discriminant_logits(*(torch.cat(parts) for parts in zip(*tasks, strict=True)))
    for logits, alone in zip(together, tasks, strict=True):
        torch.testing.assert_close(logits, discriminant_logits(*alone)[0])


def test_one_image_of_each_class_is_told_apart_by_distance():
    support, labels, query, means = task(1, 12)
    logits = discriminant_logits(support, labels, query, means)
    assert logits.isfinite().all()
    distances = torch.cdist(query, means)
    assert torch.equal(logits.argsort(-1), (-distances).argsort(-1))


def test_copies_of_one_image_have_finite_answers():
    support = torch.ones(1, 6, 4, dtype=torch.float64)
    labels = torch.arange(2).repeat_interleave(3)[None]
    logits = discriminant_logits(support, labels, 2 * support, support[:, :2])
    assert logits.softmax(-1).isfinite().all()
