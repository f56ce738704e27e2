"""Distances have a gradient even at a prototype itself."""

import torch

from samovar.models.classifiers import distance_logits


def test_distances_have_a_gradient_at_a_prototype_itself():
    """1-shot: a query may be the prototype; the root of zero must not give NaN."""
    features = torch.zeros(1, 1, 3, requires_grad=True)
    distance_logits(features, torch.zeros(1, 2, 3), 1.0, squared=False).sum().backward()
    assert torch.isfinite(features.grad).all()
